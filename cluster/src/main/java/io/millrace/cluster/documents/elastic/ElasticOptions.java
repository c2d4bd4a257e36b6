package io.millrace.cluster.documents.elastic;

import io.millrace.work.elastic.Credentials;
import io.millrace.work.elastic.ElasticClient;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where documents in Elasticsearch or OpenSearch are, and how to reach them.
 *
 * @param server the address of the engine, {@code http} or {@code https}, with a path if it has one
 * @param prefix the prefix of the names of indices; default {@value #PREFIX}
 * @param credentials the credentials; null for none
 * @param certificates a file of certificates to trust over {@code https}, PEM or DER; null for
 *     those that the JVM trusts. The host name is always checked
 * @param timeout the maximum duration of a request, or of each page of a listing; default 5 seconds
 */
public record ElasticOptions(
    URI server,
    String prefix,
    @Nullable Credentials credentials,
    @Nullable Path certificates,
    Duration timeout) {
  /** The default prefix of indices. */
  public static final String PREFIX = "millrace-";

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** What both engines accept at the start of an index name. */
  private static final Pattern PREFIXES = Pattern.compile("[a-z0-9][a-z0-9._-]{0,99}");

  /** Checks address, prefix and timeout. */
  public ElasticOptions {
    String scheme = server.getScheme();
    if (server.getHost() == null
        || !("http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme))) {
      throw new IllegalArgumentException(
          "the address of Elasticsearch must be like http://host:9200, not " + server);
    }
    if (server.getRawQuery() != null || server.getRawFragment() != null) {
      throw new IllegalArgumentException("the address of Elasticsearch has a query: " + server);
    }
    if (server.getRawUserInfo() != null) {
      throw new IllegalArgumentException(
          "the address of Elasticsearch contains credentials; set them in the environment instead,"
              + " with  "
              + Credentials.USER
              + " and "
              + Credentials.PASSWORD);
    }
    if (!PREFIXES.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "an index prefix has 1 to 100 of a-z, 0-9, '.', '_' and '-', a letter or digit first, not"
              + " '"
              + prefix
              + "'");
    }
    if (!timeout.isPositive()) {
      throw new IllegalArgumentException("a timeout must be positive, not " + timeout);
    }
  }

  /** The engine at this address, with default options. */
  public static ElasticOptions at(URI server) {
    return new ElasticOptions(server, PREFIX, null, null, TIMEOUT);
  }

  /** The same with another prefix. */
  public ElasticOptions withPrefix(String prefix) {
    return new ElasticOptions(server, prefix, credentials, certificates, timeout);
  }

  /** The same with credentials. */
  public ElasticOptions withCredentials(@Nullable Credentials credentials) {
    return new ElasticOptions(server, prefix, credentials, certificates, timeout);
  }

  /** The same, trusting the certificates in this file instead of the JVM's authorities. */
  public ElasticOptions withCertificates(@Nullable Path file) {
    return new ElasticOptions(server, prefix, credentials, file, timeout);
  }

  /** The same with another timeout. */
  public ElasticOptions withTimeout(Duration timeout) {
    return new ElasticOptions(server, prefix, credentials, certificates, timeout);
  }

  /** A connection with these options. */
  ElasticClient connect() {
    return new ElasticClient(server, credentials, certificates, timeout);
  }
}
