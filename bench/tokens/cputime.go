//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that this process has used, in user and system mode.
func cpuTime() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, err
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
