package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a server is and how it is spoken to. It can be handed to another process as options of
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
   * How to reach it.
   *
   * @param patience how long a call is tried where that is safe
   * @throws UsageException when the address is none, or a file cannot be read
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
