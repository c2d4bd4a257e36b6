package io.millrace.spring;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The properties of Millrace.
 *
 * @param server Address of a server, or the addresses of several that share a store. Without one, a
 *     server runs in the process of the application.
 * @param token Token for that server.
 * @param certificates File with the certificates to trust for that server instead of those of the
 *     JVM.
 * @param data Folder of the server in the process of the application.
 * @param http Port of the HTTP API and the dashboard of that server, 0 for any free one. Without
 *     it, it does not listen.
 * @param settings Settings of that server by their keys, as in its configuration file.
 * @param worker How methods with @MillraceJob get jobs.
 * @param outbox Jobs that are submitted in a transaction of the application.
 */
@ConfigurationProperties("millrace")
public record MillraceProperties(
    @Nullable List<URI> server,
    @Nullable String token,
    @Nullable Path certificates,
    @Nullable Path data,
    @Nullable Integer http,
    @DefaultValue Map<String, String> settings,
    @DefaultValue Worker worker,
    @DefaultValue Outbox outbox) {

  /** Where the data of a server in this process is, unless the properties say so. */
  static final Path DEFAULT_DATA = Path.of("millrace-data");

  /**
   * How methods with @MillraceJob get jobs.
   *
   * @param enabled Whether this instance works on jobs.
   * @param name Name of the workers at a remote server; that of the application by default.
   * @param id Id of the workers at a remote server, which no other instance has; made of name, host
   *     and process by default.
   * @param token Secret of the registration of workers at a remote server (jobs.worker.token).
   * @param grace How long running jobs have when the application stops.
   */
  public record Worker(
      @DefaultValue("true") boolean enabled,
      @Nullable String name,
      @Nullable String id,
      @DefaultValue("") String token,
      @DefaultValue("20s") Duration grace) {}

  /**
   * Jobs that are submitted in a transaction of the application.
   *
   * @param enabled Whether there is an outbox in the data source of the application.
   * @param createTables Whether its tables are created at the start if they are absent.
   * @param maxRows Most jobs that may wait in it.
   * @param maxPayload Longest payload.
   */
  public record Outbox(
      @DefaultValue("false") boolean enabled,
      @DefaultValue("false") boolean createTables,
      @DefaultValue("100000") long maxRows,
      @DefaultValue("1MB") DataSize maxPayload) {}
}
