package io.millrace.embedded;

import io.millrace.client.jobs.JobKind;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The options of an embedded server. Immutable.
 *
 * @param folder the folder of the store; created if absent, and used by one process at a time
 * @param http whether it listens for HTTP, as {@code ./millrace up} does; false by default
 * @param settings settings of the configuration by whole key, for example {@code store.journal};
 *     docs/configuration.md lists them
 */
public record EmbeddedOptions(Path folder, boolean http, Map<String, String> settings) {
  /** Copies the settings. */
  public EmbeddedOptions {
    settings = Map.copyOf(settings);
  }

  /** A server in this folder, with the defaults and without HTTP. */
  public static EmbeddedOptions in(Path folder) {
    return new EmbeddedOptions(folder, false, Map.of());
  }

  /** The same with a setting. An unknown or invalid one is refused when the server starts. */
  public EmbeddedOptions with(String key, String value) {
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.put(key, value);
    return new EmbeddedOptions(folder, http, all);
  }

  /**
   * The same with a job type for jobs of this kind. A server stores its types: a later start has to
   * name them again, or allow the change by {@code jobs.replace-types}.
   */
  public EmbeddedOptions withKind(JobKind<?, ?> kind) {
    return with("jobs.types." + kind.name() + ".description", kind.payload().getSimpleName());
  }

  /**
   * The same with HTTP and the dashboard on a port of this machine.
   *
   * @param port from 1 to 65,535; 0 for any free port
   */
  public EmbeddedOptions withHttp(int port) {
    EmbeddedOptions same = with("server.port", Integer.toString(port));
    return new EmbeddedOptions(folder, true, same.settings());
  }
}
