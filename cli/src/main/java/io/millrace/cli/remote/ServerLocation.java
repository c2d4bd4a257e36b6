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
import org.jspecify.annotations.Nullable;

/**
 * Where a server is and how to connect to it. It can be passed to another process as options of
 * {@link ServerAddress}.
 *
 * @param address its address
 * @param tokenFile the file with the token that it wants; null for none
 * @param certificates the file of certificates by which it proves itself; null for those that Java
 *     trusts
 */
public record ServerLocation(
    String address, @Nullable Path tokenFile, @Nullable Path certificates) {
  /** A server at an address, which needs neither token nor certificates. */
  public static ServerLocation at(String address) {
    return new ServerLocation(address, null, null);
  }

  /** The options by which another process finds it from any folder. */
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
   * What to tell the user if a secret for this server crosses a network that others can read.
   *
   * @param secret how the secret is called, as {@code token}; null if there is none
   * @return the warning; null if there is nothing to warn about
   */
  public static @Nullable String warning(URI server, @Nullable String secret) {
    if (secret == null || !"http".equalsIgnoreCase(server.getScheme()) || isLoopback(server)) {
      return null;
    }
    return "the %s is sent to %s unencrypted, and whoever can read the network can use it; put a"
            .formatted(secret, server.getHost())
        + " proxy with TLS before the server and use https, see docs/cli.md";
  }

  /** An address that cannot be resolved now counts as one of another machine. */
  private static boolean isLoopback(URI server) {
    try {
      return server.getHost() != null
          && InetAddress.getByName(server.getHost()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /**
   * How to reach it.
   *
   * @param patience how long a call is retried if that is safe
   * @throws UsageException if the address is none, or a file cannot be read
   */
  public ClientOptions client(Duration patience) {
    try {
      ClientOptions options =
          ClientOptions.at(URI.create(address))
              .withRetryFor(patience)
              .withCertificates(certificates)
              .withToken(tokenFile == null ? null : SecretFile.read("token file", tokenFile));
      // Asked for here, so that a wrong file is told as a wrong option.
      var _ = options.tls();
      return options;
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }
}
