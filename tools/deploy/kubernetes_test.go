package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// root is the repository, seen from here.
const root = "../.."

// cluster is what the manifests make, the example's Secrets included.
type cluster struct {
	deployment appsv1.Deployment
	services   []corev1.Service
	accounts   []corev1.ServiceAccount
	configs    map[string]corev1.ConfigMap
	secrets    map[string]corev1.Secret
	autoscaler autoscalingv2.HorizontalPodAutoscaler
	budget     policyv1.PodDisruptionBudget
	network    networkingv1.NetworkPolicy
}

func (c *cluster) container() corev1.Container { return c.deployment.Spec.Template.Spec.Containers[0] }

// readCluster decodes every manifest. A field that its type does not have is an error.
func readCluster(t *testing.T) *cluster {
	t.Helper()
	files, err := filepath.Glob(root + "/deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	c := &cluster{configs: map[string]corev1.ConfigMap{}, secrets: map[string]corev1.Secret{}}
	for _, file := range append(files, root+"/deploy/kubernetes/example/secrets.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			if err := c.add(document); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return c
}

func (c *cluster) add(document []byte) error {
	var about struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &about); err != nil {
		return err
	}
	switch kind := about.APIVersion + " " + about.Kind; kind {
	case "apps/v1 Deployment":
		return decode(document, &c.deployment)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return decode(document, &c.autoscaler)
	case "policy/v1 PodDisruptionBudget":
		return decode(document, &c.budget)
	case "networking.k8s.io/v1 NetworkPolicy":
		return decode(document, &c.network)
	case "v1 Service":
		var s corev1.Service
		err := decode(document, &s)
		c.services = append(c.services, s)
		return err
	case "v1 ServiceAccount":
		var s corev1.ServiceAccount
		err := decode(document, &s)
		c.accounts = append(c.accounts, s)
		return err
	case "v1 ConfigMap":
		var m corev1.ConfigMap
		err := decode(document, &m)
		c.configs[m.Name] = m
		return err
	case "v1 Secret":
		var s corev1.Secret
		err := decode(document, &s)
		c.secrets[s.Name] = s
		return err
	default:
		return fmt.Errorf("there is no check for the kind %s", kind)
	}
}

// decode is strict the way Kubernetes is: names of fields are compared with their case.
func decode(document []byte, into any) error {
	js, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(js, into)
	return errors.Join(append(unknown, err)...)
}

func TestSelectorsFindThePods(t *testing.T) {
	c := readCluster(t)
	pod := labels.Set(c.deployment.Spec.Template.Labels)
	selectors := map[string]map[string]string{
		"Deployment":          c.deployment.Spec.Selector.MatchLabels,
		"PodDisruptionBudget": c.budget.Spec.Selector.MatchLabels,
		"NetworkPolicy":       c.network.Spec.PodSelector.MatchLabels,
	}
	for _, s := range c.services {
		selectors["Service "+s.Name] = s.Spec.Selector
	}
	for _, s := range c.deployment.Spec.Template.Spec.TopologySpreadConstraints {
		selectors["spread over "+s.TopologyKey] = s.LabelSelector.MatchLabels
	}
	for name, selector := range selectors {
		if len(selector) == 0 || !labels.SelectorFromSet(selector).Matches(pod) {
			t.Errorf("%s selects %v, the pods have %v", name, selector, pod)
		}
	}
	target := c.autoscaler.Spec.ScaleTargetRef
	if target.Kind != "Deployment" || target.Name != c.deployment.Name {
		t.Errorf("the autoscaler scales %s %s", target.Kind, target.Name)
	}
	if len(c.accounts) != 1 || c.accounts[0].Name != c.deployment.Spec.Template.Spec.ServiceAccountName {
		t.Errorf("the service account %q is not made", c.deployment.Spec.Template.Spec.ServiceAccountName)
	}
}

func TestPortsAreTheContainers(t *testing.T) {
	c := readCluster(t)
	names := map[string]int32{}
	for _, p := range c.container().Ports {
		names[p.Name] = p.ContainerPort
	}
	used := map[string]intstr.IntOrString{
		"startup probe":   c.container().StartupProbe.HTTPGet.Port,
		"readiness probe": c.container().ReadinessProbe.HTTPGet.Port,
		"liveness probe":  c.container().LivenessProbe.HTTPGet.Port,
	}
	for _, s := range c.services {
		for _, p := range s.Spec.Ports {
			used["Service "+s.Name+" "+p.Name] = p.TargetPort
			if p.Port != names[p.Name] {
				t.Errorf("Service %s: port %s is %d, in the container %d", s.Name, p.Name, p.Port, names[p.Name])
			}
		}
	}
	for _, rule := range c.network.Spec.Ingress {
		for _, p := range rule.Ports {
			used["NetworkPolicy "+p.Port.String()] = *p.Port
		}
	}
	for name, port := range used {
		if names[port.StrVal] == 0 {
			t.Errorf("%s: the container has no port %q", name, port.String())
		}
	}
	// The addresses that the server listens on are those ports.
	for _, v := range c.container().Env {
		name, isAddress := strings.CutSuffix(strings.TrimPrefix(v.Name, "ELBOWROOM_"), "_ADDR")
		if port := intstr.FromInt32(names[strings.ToLower(name)]); isAddress && v.Value != ":"+port.String() {
			t.Errorf("%s is %s, the container's port is %s", v.Name, v.Value, port.String())
		}
	}
}

func TestMountsAreThere(t *testing.T) {
	c := readCluster(t)
	volumes := map[string]bool{}
	for _, v := range c.deployment.Spec.Template.Spec.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && c.configs[v.ConfigMap.Name].Name == "" {
			t.Errorf("volume %s: there is no ConfigMap %s", v.Name, v.ConfigMap.Name)
		}
		if v.Secret != nil && c.secrets[v.Secret.SecretName].Name == "" {
			t.Errorf("volume %s: the example has no Secret %s", v.Name, v.Secret.SecretName)
		}
	}
	for _, m := range c.container().VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("%s mounts the volume %s, which does not exist", m.MountPath, m.Name)
		}
	}
	for _, v := range c.container().Env {
		if v.ValueFrom == nil {
			continue
		}
		ref := v.ValueFrom.SecretKeyRef
		if _, there := c.secrets[ref.Name].StringData[ref.Key]; !there {
			t.Errorf("%s: the example has no key %s in a Secret %s", v.Name, ref.Key, ref.Name)
		}
	}
	for _, from := range c.container().EnvFrom {
		if c.secrets[from.SecretRef.Name].Name == "" {
			t.Errorf("the example has no Secret %s", from.SecretRef.Name)
		}
	}
}

func TestPodsAreRestricted(t *testing.T) {
	c := readCluster(t)
	pod, own := c.deployment.Spec.Template.Spec, c.container().SecurityContext
	restricted := *pod.SecurityContext.RunAsNonRoot && *pod.SecurityContext.RunAsUser > 0 &&
		pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault &&
		!*own.AllowPrivilegeEscalation && *own.ReadOnlyRootFilesystem &&
		len(own.Capabilities.Drop) == 1 && own.Capabilities.Drop[0] == "ALL" && len(own.Capabilities.Add) == 0
	if !restricted {
		t.Error("the pods do not meet the restricted Pod Security Standard")
	}
	if *pod.AutomountServiceAccountToken || *c.accounts[0].AutomountServiceAccountToken {
		t.Error("the pods get a token for the Kubernetes API")
	}
}
