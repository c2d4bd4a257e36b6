package io.millrace.cli.serve;

import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.Configuration.Flag;
import io.millrace.server.config.ConfigurationException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that make up the configuration of a server. */
public final class ServerOptions {
  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      description = "The folder of the store; created if absent. Default: ./millrace-data")
  private @Nullable String data;

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "The store in a database that several servers may share, for example"
              + " jdbc:postgresql://HOST/DATABASE or s3://BUCKET/PREFIX; see docs/stores.md. Blobs,"
              + " unless blobs.url is set, and files stay in the folder of --data. Default: in that"
              + " folder")
  private @Nullable String store;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "N",
      description = "The port; 0 for any free port. Default: 8048")
  private @Nullable String port;

  @Option(
      names = "--address",
      paramLabel = "HOST",
      description =
          "The address to listen on. On addresses other than loopback every client needs"
              + " credentials: see 'millrace access' and --token-file. Default: 127.0.0.1")
  private @Nullable String address;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with a token that every client must send.")
  private @Nullable String tokenFile;

  @Option(
      names = "--journal",
      paramLabel = "MODE",
      description =
          "strict: every answer is on disk before it is sent. opportunistic: answers are sent at"
              + " once, and a crash may lose the newest changes. Default: strict")
  private @Nullable String journal;

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "A YAML file with these and other settings; see docs/configuration.md.")
  private @Nullable Path config;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "A setting of the configuration file, for example --set server.idle-timeout=5m; can be"
              + " repeated.")
  private Map<String, String> settings = new LinkedHashMap<>();

  /** The configuration file; null for none. */
  public @Nullable Path file() {
    return config;
  }

  /**
   * The configuration of these options and of their file.
   *
   * @throws ConfigurationException if a value is wrong; the message names the option
   */
  public Configuration read() {
    List<Flag> flags = new ArrayList<>();
    settings.forEach((key, value) -> flags.add(Flag.set(key, value)));
    add(flags, "store.data", data, "--data");
    add(flags, "store.url", store, "--store");
    add(flags, "store.journal", journal, "--journal");
    add(flags, "server.port", port, "--port");
    add(flags, "server.address", address, "--address");
    add(flags, "server.token-file", tokenFile, "--token-file");
    return Configuration.read(MillraceServer.SECTIONS, config, flags);
  }

  private static void add(List<Flag> flags, String key, @Nullable String value, String typed) {
    if (value != null) {
      flags.add(new Flag(key, value, typed));
    }
  }
}
