package chaos

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheDocumentationHasARowForEachFault(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What happens when ...\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \|`).FindAllStringSubmatch(section, -1)[2:] {
		documented = append(documented, row[1])
	}
	happen := []string{
		"a replica is killed with a call in hand",         // TestKillingAReplicaLosesNothingThatARetryDoesNotRecover
		"a week passes for what a server holds in memory", // TestEntriesOfTheEmbeddedStoreEnd
		"the disk for the log is full",                    // TestAFullDiskForLogs
	}
	for _, f := range slices.Concat(processFaults(), redisFaults(), modelFaults(), fileFaults(), logFaults()) {
		happen = append(happen, f.name)
	}
	slices.Sort(documented)
	slices.Sort(happen)
	if diff := cmp.Diff(happen, documented); diff != "" {
		t.Errorf("faults (-happen +documented):\n%s", diff)
	}
}
