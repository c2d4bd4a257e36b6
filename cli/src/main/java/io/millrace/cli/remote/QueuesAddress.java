package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options for queues in a MongoDB database. Nothing of its driver is loaded without them. */
public final class QueuesAddress {
  @Option(
      names = "--queues",
      paramLabel = "URL",
      description =
          "Queues in a MongoDB database of Disbatch 4 instead of those of the store:"
              + " mongodb://HOST/DATABASE; see docs/queues-mongo.md")
  private @Nullable String url;

  @Option(
      names = "--queues-auth",
      paramLabel = "FILE",
      description =
          "A JSON file with username and password for disbatchd, disbatch_web, task_runner and"
              + " plugin. Default: no credentials")
  private @Nullable Path credentials;

  @Option(
      names = "--queues-ca",
      paramLabel = "FILE",
      description =
          "A file of certificates (PEM) to trust for TLS, which it turns on. Default: those that"
              + " Java trusts, if the URL has tls=true")
  private @Nullable Path certificates;

  /**
   * Parses options.
   *
   * @throws CommandLine.ParameterException if there is an unknown option
   */
  public static QueuesAddress read(List<String> arguments) {
    return CommandLine.populateCommand(new QueuesAddress(), arguments.toArray(String[]::new));
  }

  /** The address of a database that an import or export names. */
  public static QueuesAddress of(
      String url, @Nullable Path credentials, @Nullable Path certificates) {
    QueuesAddress address = new QueuesAddress();
    address.url = url;
    address.credentials = credentials;
    address.certificates = certificates;
    return address;
  }

  /**
   * Whether the queues are in MongoDB.
   *
   * @throws UsageException if only other options of these are given, or a file cannot be read
   */
  public boolean isGiven() {
    if (url == null && (credentials != null || certificates != null)) {
      throw new UsageException("--queues-auth and --queues-ca need --queues");
    }
    check("--queues-auth", credentials);
    check("--queues-ca", certificates);
    return url != null;
  }

  private static void check(String option, @Nullable Path file) {
    if (file != null && !Files.isReadable(file)) {
      throw new UsageException(option + " cannot be read: " + file);
    }
  }

  /** The URL; only if {@link #isGiven}. */
  public String url() {
    if (url == null) {
      throw new IllegalStateException("--queues was not given");
    }
    return url;
  }

  /** The file with credentials; null for none. */
  public @Nullable Path credentials() {
    return credentials;
  }

  /** The file with certificates; null for none. */
  public @Nullable Path certificates() {
    return certificates;
  }
}
