package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The address of a server, and the files needed to connect to it. It can be passed to another
 * process as options of {@link ServerAddress}.
 *
 * @param address the URL, or several of servers that share a store, separated by commas
 * @param tokenFile the file with the token to send; null for none
 * @param certificates the file with the certificates to trust; null for those that Java trusts
 */
public record ServerLocation(
    String address, @Nullable Path tokenFile, @Nullable Path certificates) {
  /** A server that needs neither a token nor certificates. */
  public static ServerLocation at(String address) {
    return new ServerLocation(address, null, null);
  }

  /** The same servers, of which everything is below a path. */
  public ServerLocation below(String path) {
    String addresses =
        Stream.of(address.split(",", -1))
            .map(each -> each.strip().replaceFirst("/+$", "") + path)
            .collect(Collectors.joining(","));
    return new ServerLocation(addresses, tokenFile, certificates);
  }

  /** The options for another process, valid in any working directory. */
  public List<String> arguments() {
    List<String> arguments = new ArrayList<>(List.of("--server", address));
    add(arguments, "--token-file", tokenFile);
    add(arguments, "--certificates", certificates);
    return arguments;
  }

  private static void add(List<String> arguments, String option, @Nullable Path file) {
    if (file != null) {
      arguments.addAll(List.of(option, file.toAbsolutePath().toString()));
    }
  }

  /**
   * The warning for a secret that is sent over the network unencrypted.
   *
   * @param secret the name of the secret, for example {@code token}; null if there is none
   * @return the warning; null if there is nothing to warn about
   */
  public static @Nullable String warning(URI server, @Nullable String secret) {
    if (secret == null || !"http".equalsIgnoreCase(server.getScheme()) || isLoopback(server)) {
      return null;
    }
    return "the %s is sent to %s unencrypted, and anyone who can read the network can use it; give"
            .formatted(secret, server.getHost())
        + " the server a certificate, or a proxy with TLS, and use https, see docs/access.md";
  }

  /** An address that cannot be resolved counts as another machine. */
  private static boolean isLoopback(URI server) {
    try {
      return server.getHost() != null
          && InetAddress.getByName(server.getHost()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /**
   * The options to connect to it.
   *
   * @param retryTime how long to retry a call that is safe to repeat
   * @throws UsageException if the address is invalid or a file cannot be read
   */
  public ClientOptions client(Duration retryTime) {
    try {
      ClientOptions options =
          ClientOptions.at(address)
              .withRetryFor(retryTime)
              .withCertificates(certificates)
              .withToken(tokenFile == null ? null : SecretFile.read("token file", tokenFile));
      // Read here, so that a wrong file is reported as a usage error.
      var _ = options.tls();
      return options;
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }
}
