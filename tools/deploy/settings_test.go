package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// folder is where the pods find their files.
const folder = "/etc/elbowroom/"

// goodSecrets take the place of the example's.
var goodSecrets = map[string]string{
	"auth/tokens":      "team-a " + strings.Repeat("5e", 32) + "\n",
	"state/keys":       strings.Repeat("signs ", 8) + "\n",
	"state/encryption": strings.Repeat("hides ", 8) + "\n",
}

// TestSettingsAreAccepted asks the binary itself.
func TestSettingsAreAccepted(t *testing.T) {
	elbowroom := buildElbowroom(t)
	t.Run("Kubernetes", func(t *testing.T) { checkPods(t, elbowroom) })
	t.Run("compose", func(t *testing.T) { checkCompose(t, elbowroom) })
}

// checker runs `elbowroom config check` with an environment and the configuration in a folder, "" for none.
type checker func(at string, environ []string) (string, error)

// checkPods gives the binary what a pod would find: variables, configuration and Secrets.
func checkPods(t *testing.T, elbowroom checker) {
	c := readCluster(t)

	out, err := elbowroom(podFiles(t, c))
	if err == nil || !strings.Contains(out, "fewer than 32 characters") {
		t.Errorf("with the example's Secrets it is not refused for its keys: %v\n%s", err, out)
	}

	at, environ := podFiles(t, c)
	for name, text := range goodSecrets {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := elbowroom(at, environ); err != nil || strings.Contains(out, "warning") {
		t.Errorf("with good Secrets: %v\n%s", err, out)
	}
}

func buildElbowroom(t *testing.T) checker {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "elbowroom")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", binary, "./cmd/elbowroom")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return func(at string, environ []string) (string, error) {
		check := exec.CommandContext(t.Context(), binary, "config", "check")
		check.Env = environ
		if at != "" {
			check.Args = append(check.Args, "--config", filepath.Join(at, "config/elbowroom.yaml"))
		}
		out, err := check.CombinedOutput()
		return string(out), err
	}
}

// podFiles writes what a pod finds under [folder] to another one, and returns it with the pod's variables.
func podFiles(t *testing.T, c *cluster) (at string, environ []string) {
	t.Helper()
	at = t.TempDir()
	elsewhere := strings.NewReplacer(folder, at+"/")
	contents := map[string]map[string]string{}
	for _, v := range c.deployment.Spec.Template.Spec.Volumes {
		if v.ConfigMap != nil {
			contents[v.Name] = c.configs[v.ConfigMap.Name].Data
		} else {
			contents[v.Name] = c.secrets[v.Secret.SecretName].StringData
		}
	}
	for _, m := range c.container().VolumeMounts {
		dir := elsewhere.Replace(m.MountPath + "/")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range contents[m.Name] {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(elsewhere.Replace(text)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, v := range c.container().Env {
		value := v.Value
		if v.ValueFrom != nil {
			ref := v.ValueFrom.SecretKeyRef
			value = c.secrets[ref.Name].StringData[ref.Key]
		}
		environ = append(environ, v.Name+"="+value)
	}
	return at, environ
}

// checkCompose gives it what compose and the image set.
func checkCompose(t *testing.T, elbowroom checker) {
	for _, s := range composeServices(t) {
		if s.Image != "elbowroom:devel" {
			continue
		}
		environ := []string{"ELBOWROOM_GRPC_ADDR=0.0.0.0:50051", "ELBOWROOM_HTTP_ADDR=0.0.0.0:8051"} // the image's
		if len(s.Command) != 2 || s.Command[0] != "serve" || s.Command[1] != "--insecure" {
			t.Fatalf("%s runs %q", s.Name, s.Command)
		}
		environ = append(environ, "ELBOWROOM_INSECURE=true")
		for name, value := range s.Environment {
			environ = append(environ, name+"="+*value)
		}
		if out, err := elbowroom("", environ); err != nil || strings.Contains(out, "warning") {
			t.Errorf("%s: %v\n%s", s.Name, err, out)
		}
		checkMemory(t, s.Name, *s.Environment["GOMEMLIMIT"], int64(s.MemLimit))
	}
}

// TestTimesAndSizesFit checks what no schema knows: that a pod has the time to drain and the room for what it may hold.
func TestTimesAndSizesFit(t *testing.T) {
	c := readCluster(t)
	var settings struct {
		ShutdownTimeout string `json:"shutdown_timeout"`
	}
	if err := yaml.Unmarshal([]byte(c.configs["elbowroom"].Data["elbowroom.yaml"]), &settings); err != nil {
		t.Fatal(err)
	}
	drain, err := time.ParseDuration(settings.ShutdownTimeout)
	if err != nil {
		t.Fatal(err)
	}
	pod := c.deployment.Spec.Template.Spec
	pause := time.Duration(c.container().Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace < pause+drain+5*time.Second {
		t.Errorf("pods are killed after %v, but may take %v + %v and the end of telemetry", grace, pause, drain)
	}
	limits := c.container().Resources.Limits
	for _, v := range c.container().Env {
		if v.Name == "GOMEMLIMIT" {
			checkMemory(t, "the container", v.Value, limits.Memory().Value())
		}
	}
	for _, s := range composeServices(t) {
		if s.Image == "elbowroom:devel" && (s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) < drain+5*time.Second) {
			t.Errorf("%s is killed before it has drained", s.Name)
		}
	}
}

// checkMemory wants Go's own limit between 80 and 95 % of the container's.
func checkMemory(t *testing.T, name, goLimit string, limit int64) {
	t.Helper()
	own, err := resource.ParseQuantity(strings.TrimSuffix(goLimit, "B"))
	if err != nil {
		t.Errorf("%s: GOMEMLIMIT: %v", name, err)
		return
	}
	if share := float64(own.Value()) / float64(limit); share < 0.80 || share > 0.95 {
		t.Errorf("%s: GOMEMLIMIT %s is %.0f %% of the memory limit", name, goLimit, 100*share)
	}
}
