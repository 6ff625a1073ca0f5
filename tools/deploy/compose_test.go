package deploy

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	prometheus "github.com/prometheus/prometheus/config"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

const composeFolder = root + "/deploy/compose"

// composeServices loads the file against the schema of compose; a key that it does not have is an error.
func composeServices(t *testing.T) types.Services {
	t.Helper()
	dir, err := filepath.Abs(composeFolder)
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "compose.yaml")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return project.Services
}

func TestComposeMountsAndPorts(t *testing.T) {
	for _, s := range composeServices(t) {
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s mounts what is not there: %v", s.Name, err)
			}
		}
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %d is open to other machines", s.Name, p.Target)
			}
		}
	}
	if _, err := os.Stat(root + "/deploy/grafana/elbowroom.json"); err != nil {
		t.Errorf("the dashboard: %v", err)
	}
}

func TestPrometheusConfiguration(t *testing.T) {
	c, err := prometheus.LoadFile(composeFolder+"/prometheus.yaml", false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.ScrapeConfigs) != 1 {
		t.Errorf("%d scrape configurations, want 1", len(c.ScrapeConfigs))
	}
}

func TestCollectorConfiguration(t *testing.T) {
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(),
		Factories: func() (otelcol.Factories, error) {
			return otelcol.Factories{
				Receivers:  map[component.Type]receiver.Factory{component.MustNewType("otlp"): otlpreceiver.NewFactory()},
				Processors: factories(batchprocessor.NewFactory(), memorylimiterprocessor.NewFactory()),
				Exporters:  map[component.Type]exporter.Factory{component.MustNewType("debug"): debugexporter.NewFactory()},
				Telemetry:  otelconftelemetry.NewFactory(),
			}, nil
		},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs:              []string{"file:" + composeFolder + "/collector.yaml"},
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Loads and builds everything, starts nothing.
	if err := collector.DryRun(t.Context()); err != nil {
		t.Error(err)
	}
}

func factories(all ...processor.Factory) map[component.Type]processor.Factory {
	out := map[component.Type]processor.Factory{}
	for _, f := range all {
		out[f.Type()] = f
	}
	return out
}
