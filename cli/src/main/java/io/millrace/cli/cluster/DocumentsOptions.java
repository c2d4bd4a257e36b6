package io.millrace.cli.cluster;

import io.millrace.cli.remote.ServerLocation;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.HttpTaskStore;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.elastic.ElasticDocuments;
import io.millrace.cluster.documents.elastic.ElasticOptions;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.work.elastic.Credentials;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the documents of a cluster are, as options. */
final class DocumentsOptions {
  private static final String DEFAULT = "file:millrace-cluster";

  @Option(
      names = "--documents",
      paramLabel = "ADDRESS",
      defaultValue = DEFAULT,
      description = {
        "Where the documents of the cluster are kept: file:DIR (flat files), store:URL (the store"
            + " of a Millrace server) or elasticsearch:URL (Elasticsearch 8 or OpenSearch 3, with"
            + " credentials from the environment).",
        "Default: ${DEFAULT-VALUE}"
      })
  private String address = DEFAULT;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with the token for the server of store:URL.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--certificates",
      paramLabel = "FILE",
      description =
          "A file of certificates (PEM) to trust for https://… Default: those that Java trusts")
  private @Nullable Path certificates;

  @Option(
      names = "--index-prefix",
      paramLabel = "PREFIX",
      description =
          "The prefix of the index names for elasticsearch:URL. Default: " + ElasticOptions.PREFIX)
  private @Nullable String indexPrefix;

  /** The address as it was given. */
  String address() {
    return address;
  }

  /**
   * A warning if a secret for these documents is sent over the network unencrypted; null if there
   * is nothing to warn about or the address is invalid.
   */
  @Nullable String warning() {
    try {
      URI place = URI.create(address.substring(address.indexOf(':') + 1));
      if (address.startsWith("store:")) {
        return ServerLocation.warning(place, tokenFile == null ? null : "token");
      }
      return address.startsWith("elasticsearch:") && Credentials.from(System.getenv()).isPresent()
          ? ServerLocation.warning(place, "credential")
          : null;
    } catch (IllegalArgumentException e) {
      return null; // Opening the documents says what is wrong.
    }
  }

  /**
   * Opens the documents.
   *
   * @param timeout how long a request may take
   * @throws UsageException if the address is invalid
   */
  VersionedDocuments open(Duration timeout) {
    int colon = address.indexOf(':');
    String kind = colon < 0 ? address : address.substring(0, colon);
    String place = address.substring(colon + 1);
    if (colon < 0 || place.isBlank()) {
      throw unknown();
    }
    try {
      return open(kind, place, timeout);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private VersionedDocuments open(String kind, String place, Duration timeout) {
    return switch (kind) {
      case "file" -> FileDocuments.open(Path.of(place));
      case "store" ->
          StoreDocuments.owning(
              HttpTaskStore.open(
                  new ServerLocation(place, tokenFile, certificates)
                      .client(Duration.ZERO)
                      .withConnectTimeout(timeout)
                      .withResponseTimeout(timeout)));
      case "elasticsearch" -> ElasticDocuments.open(elastic(place, timeout));
      default -> throw unknown();
    };
  }

  private ElasticOptions elastic(String place, Duration timeout) {
    return ElasticOptions.at(URI.create(place))
        .withPrefix(indexPrefix == null ? ElasticOptions.PREFIX : indexPrefix)
        .withCredentials(Credentials.from(System.getenv()).orElse(null))
        .withCertificates(certificates)
        .withTimeout(timeout);
  }

  private UsageException unknown() {
    return new UsageException(
        "--documents is file:DIR, store:URL or elasticsearch:URL, not '%s'".formatted(address));
  }
}
