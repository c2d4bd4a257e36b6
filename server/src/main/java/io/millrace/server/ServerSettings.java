package io.millrace.server;

import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.message.HttpException;
import io.millrace.http.transport.ServerCertificate;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.server.security.Origins;
import io.millrace.server.security.Proxies;
import io.millrace.work.TrustedCertificates;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the HTTP server.
 *
 * @param address the name or number of the address on which to listen
 * @param port the port on which to listen, 0 for any free one
 * @param tokenFile the file with the bearer token; null for none
 * @param requireCredentials whether callers on this machine need credentials too
 * @param tls the files of certificate and key; null for plain connections
 * @param trusted a file with the certificates by which it knows other servers of its store; null
 *     for those that Java trusts
 * @param allowUnencrypted whether it may listen on another address than loopback without TLS
 * @param publicUrl the URL under which browsers reach it, without a slash at the end; null for the
 *     address of each request
 * @param origins the origins under which a proxy publishes it
 * @param proxies whose word counts about the addresses of clients
 * @param http the limits
 */
public record ServerSettings(
    String address,
    int port,
    @Nullable Path tokenFile,
    boolean requireCredentials,
    ServerCertificate.@Nullable Source tls,
    @Nullable Path trusted,
    boolean allowUnencrypted,
    @Nullable URI publicUrl,
    Origins origins,
    Proxies proxies,
    HttpLimits http) {
  private static final int LONGEST_URL = 1_000;

  /** How long a connection to another server may take. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<String> ADDRESS =
      KEYS.text(
          "address",
          "127.0.0.1",
          "The address to listen on. On any other than loopback every caller needs credentials:"
              + " `server.token-file`, or those of a principal; see docs/access.md. Such an address"
              + " also requires `server.tls.certificate`, `server.behind-proxy` or"
              + " `server.allow-unencrypted`.");
  private static final Key<Long> PORT =
      KEYS.number("port", 0, 65_535, 8048, "The port to listen on; 0 takes any free one.");
  private static final Key<@Nullable Path> TOKEN_FILE =
      KEYS.optionalPath(
          "token-file",
          "A file with one token. With it every request except `/health` needs the header"
              + " `Authorization: Bearer TOKEN`. `/dci` also takes it as the password of HTTP"
              + " Basic, and `jobs.api-key` and `jobs.worker.token` each open their part of the job"
              + " server. Keys and passwords of principals count beside it.");
  private static final Key<Boolean> REQUIRE_CREDENTIALS =
      KEYS.bool(
          "require-credentials",
          false,
          "Whether callers on this machine need credentials too. On an address other than loopback,"
              + " or with `server.token-file`, every caller does.");
  private static final Key<@Nullable Path> CERTIFICATE =
      KEYS.optionalPath(
          "tls.certificate",
          "A PEM file with the certificate of this server, followed by those of the authorities"
              + " between it and the root. With it connections are encrypted (TLS 1.2 or 1.3); see"
              + " docs/access.md.");
  private static final Key<@Nullable Path> KEY =
      KEYS.optionalPath(
          "tls.key", "A PEM file with the key of that certificate: PKCS #8, RSA, EC or EdDSA.");
  private static final Key<@Nullable Path> KEY_PASSWORD =
      KEYS.optionalPath(
          "tls.key-password-file", "A file with the password of that key, if it is encrypted.");
  private static final Key<@Nullable Path> TRUSTED =
      KEYS.optionalPath(
          "tls.trusted",
          "A PEM file with the certificates by which this server knows the others that share its"
              + " store, itself included, when it sends requests for shards to `https` addresses."
              + " Default: those that Java trusts.");
  private static final Key<Boolean> ALLOW_UNENCRYPTED =
      KEYS.bool(
          "allow-unencrypted",
          false,
          "Whether the server may listen on an address other than loopback without TLS and without"
              + " a proxy. Then anybody who can read the network can take the credentials of"
              + " callers and use them.");
  private static final Key<Long> MAX_BODY =
      KEYS.bytes(
          "max-body-bytes",
          1 << 10,
          1 << 30,
          HttpLimits.DEFAULT.maxBodyBytes(),
          "64MiB",
          "The longest body of a request. Claims and lists of ids end at 1 MiB in any case.");
  private static final Key<Long> MAX_HEADER =
      KEYS.bytes(
          "max-header-bytes",
          1 << 10,
          1 << 20,
          HttpLimits.DEFAULT.maxHeaderBytes(),
          "16KiB",
          "All headers of a request together.");
  private static final Key<Long> MAX_LINE =
      KEYS.bytes(
          "max-request-line-bytes",
          1 << 10,
          1 << 20,
          HttpLimits.DEFAULT.maxRequestLineBytes(),
          "16KiB",
          "Method, path and query of a request together.");
  private static final Key<Long> MAX_CONNECTIONS =
      KEYS.number(
          "max-connections",
          1,
          1_000_000,
          HttpLimits.DEFAULT.maxConnections(),
          "Connections at a time. Further ones are answered 503 and closed, once those are closed"
              + " that have stayed silent without a request that was let in. The limit of open"
              + " files (`ulimit -n`) and the largest heap may lower it: a quarter of the files, at"
              + " least 64, stays free for everything else, and each connection needs 16 KiB of"
              + " heap.");
  private static final Key<Long> MEMORY =
      KEYS.bytes(
          "request-memory-bytes",
          1 << 20,
          1L << 40,
          HttpLimits.DEFAULT.memoryBytes(),
          "an eighth of the largest heap",
          "What requests may keep in memory together: heads and bodies that have come in part,"
              + " whole bodies until they are answered, WebSocket texts, and responses that clients"
              + " are slow to read. Beyond it requests are answered 503 with `Retry-After`. A"
              + " single body takes at most seven eighths of it.");
  private static final Key<Duration> HEAD_TIMEOUT =
      KEYS.duration(
          "head-timeout",
          Duration.ofMillis(100),
          Duration.ofHours(1),
          HttpLimits.DEFAULT.headTimeout(),
          "How long the head of a request may take from its first byte, and how long a connection"
              + " may stay silent before a request with credentials has come on it (without a"
              + " token: any request).");
  private static final Key<Long> BODY_RATE =
      KEYS.number(
          "min-body-rate",
          0,
          1 << 20,
          HttpLimits.DEFAULT.minBodyRate(),
          "How many bytes of a body must come per second, on average over each"
              + " `server.head-timeout` of waiting for it; slower ones are answered 408. 0 takes"
              + " any rate.");
  private static final Key<Origins> ORIGINS =
      KEYS.add(
          new Key<>(
              "origins",
              "origins, separated by commas",
              Origins.NONE,
              "none",
              "The origins under which a proxy publishes this server, separated by commas, as in"
                  + " `https://millrace.example.com`: pages of these origins may use it, and on"
                  + " loopback requests with their host are served.",
              Origins::read));
  private static final Key<@Nullable URI> PUBLIC_URL =
      KEYS.add(
          new Key<@Nullable URI>(
              "public-url",
              "an http or https URL without query, as in https://millrace.example.com/queue",
              null,
              "the address of each request",
              "The URL under which browsers reach this server. A provider of identities sends them"
                  + " back to `/access/callback` below it. Its origin is one of `server.origins`."
                  + " Servers that share a store send clients there while this one leads; by"
                  + " default, to the address and port on which it listens. At most 1,000"
                  + " characters.",
              ServerSettings::publicUrl));
  private static final Key<Proxies> PROXIES =
      KEYS.add(
          new Key<>(
              "behind-proxy",
              "IP addresses, separated by commas",
              Proxies.NONE,
              "none",
              "The addresses of the proxies in front of this server, separated by commas, as in"
                  + " `127.0.0.1,10.0.0.7`. Their header `X-Forwarded-For` tells the address of a"
                  + " client, for the audit log and for slowing down failed attempts, and"
                  + " `X-Forwarded-Proto` whether it uses HTTPS; those of others are ignored.",
              Proxies::read));
  private static final Key<Duration> IDLE =
      KEYS.duration(
          "idle-timeout",
          Duration.ofSeconds(1),
          Duration.ofHours(24),
          HttpLimits.DEFAULT.idleTimeout(),
          "How long a connection may stay silent before it is closed. Waiting claims and streams of"
              + " changes are not silent.");
  private static final Key<Duration> GRACE =
      KEYS.duration(
          "stop-grace",
          Duration.ZERO,
          Duration.ofHours(1),
          HttpLimits.DEFAULT.stopGrace(),
          "How long a stop waits for the requests in flight.");
  private static final Key<Duration> SLOW =
      KEYS.duration(
          "slow-request",
          Duration.ofMillis(1),
          Duration.ofHours(1),
          HttpLimits.DEFAULT.slowRequest(),
          "A request that takes longer is logged.");

  /**
   * Whether every caller needs credentials: if that is configured, if there is a token, or if the
   * address is not one of loopback.
   *
   * @throws ServerException if the address is none of this machine
   */
  public boolean requiresCredentials() {
    return requireCredentials || tokenFile != null || !resolved().isLoopbackAddress();
  }

  /**
   * Where other servers send the clients of this one when it leads a store that they share: the
   * public URL, or else the address and the port on which it listens, with the name of the machine
   * for an address that stands for all of them.
   *
   * @param listening the port
   */
  String advertised(int listening) {
    if (publicUrl != null) {
      return publicUrl.toString();
    }
    String host = address;
    if (resolved().isAnyLocalAddress()) {
      try {
        host = InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException _) {
        host = InetAddress.getLoopbackAddress().getHostAddress();
      }
    }
    return "%s://%s:%d"
        .formatted(
            tls == null ? "http" : "https",
            host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host,
            listening);
  }

  /**
   * The endpoint at which to listen.
   *
   * @throws ServerException if the address is none of this machine, or needs TLS, or if certificate
   *     and key cannot be used
   */
  HttpServer.Endpoint endpoint() {
    InetAddress resolved = resolved();
    if (tls != null) {
      try {
        return new HttpServer.Endpoint(
            resolved, port, ServerCertificate.read(tls, InstantSource.system()));
      } catch (HttpException e) {
        throw new ServerException(String.valueOf(e.getMessage()), e);
      }
    }
    if (!resolved.isLoopbackAddress() && proxies.addresses().isEmpty() && !allowUnencrypted) {
      throw new ServerException(
          "server.address is "
              + resolved.getHostAddress()
              + ", where others could read the credentials of callers on the network: set"
              + " server.tls.certificate and server.tls.key, or server.behind-proxy if a proxy"
              + " encrypts, or, on a network where that does not matter,"
              + " server.allow-unencrypted=true");
    }
    return new HttpServer.Endpoint(resolved, port, null);
  }

  /**
   * When the certificate ends; null if there is none.
   *
   * @throws ServerException if certificate and key cannot be used
   */
  public @Nullable Instant certificateExpires() {
    try {
      return tls == null ? null : ServerCertificate.read(tls, InstantSource.system()).expires();
    } catch (HttpException e) {
      throw new ServerException(String.valueOf(e.getMessage()), e);
    }
  }

  private static @Nullable URI publicUrl(String text) {
    if (text.isEmpty()) {
      return null;
    }
    URI url = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
    if (url.getHost() == null
        || text.length() > LONGEST_URL
        || url.getRawQuery() != null
        || url.getRawFragment() != null
        || url.getRawUserInfo() != null
        || !("http".equals(url.getScheme()) || "https".equals(url.getScheme()))) {
      throw new IllegalArgumentException(text);
    }
    return url;
  }

  private static Origins origins(Origins given, @Nullable URI publicUrl) {
    if (publicUrl == null) {
      return given;
    }
    Set<String> origins = new HashSet<>(given.origins());
    origins.addAll(
        Origins.read(publicUrl.getScheme() + "://" + publicUrl.getAuthority()).origins());
    return new Origins(origins);
  }

  /** The source of the certificate; null if there is none. */
  private static ServerCertificate.@Nullable Source tls(
      @Nullable Path certificate, @Nullable Path key, @Nullable Path keyPassword) {
    if (certificate != null && key != null) {
      return new ServerCertificate.Source(certificate, key, keyPassword);
    }
    if (certificate != null || key != null || keyPassword != null) {
      throw new ConfigurationException(
          "server.tls.certificate and server.tls.key are given together or not at all");
    }
    return null;
  }

  /**
   * A client for requests to other servers that share the store.
   *
   * @throws ConfigurationException if the file of their certificates cannot be read
   */
  HttpClient clientOfServers() {
    try {
      return HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .sslContext(TrustedCertificates.context(trusted))
          .build();
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException("server.tls.trusted: " + e.getMessage());
    }
  }

  /**
   * The address on which to listen.
   *
   * @throws ServerException if it is none of this machine
   */
  InetAddress resolved() {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException e) {
      throw new ServerException("server.address is no address of this machine: " + address, e);
    }
  }

  /** The section {@code server}. */
  public static final Section<ServerSettings> SECTION =
      KEYS.section(
          "server",
          values ->
              new ServerSettings(
                  values.get(ADDRESS),
                  values.get(PORT).intValue(),
                  values.get(TOKEN_FILE),
                  values.get(REQUIRE_CREDENTIALS),
                  tls(values.get(CERTIFICATE), values.get(KEY), values.get(KEY_PASSWORD)),
                  values.get(TRUSTED),
                  values.get(ALLOW_UNENCRYPTED),
                  values.get(PUBLIC_URL),
                  origins(values.get(ORIGINS), values.get(PUBLIC_URL)),
                  values.get(PROXIES),
                  new HttpLimits(
                      values.get(MAX_BODY).intValue(),
                      values.get(MAX_HEADER).intValue(),
                      values.get(MAX_LINE).intValue(),
                      values.get(MAX_CONNECTIONS).intValue(),
                      values.get(MEMORY),
                      values.get(HEAD_TIMEOUT),
                      values.get(BODY_RATE).intValue(),
                      values.get(IDLE),
                      values.get(GRACE),
                      values.get(SLOW))));
}
