package io.millrace.cli.store;

import io.millrace.store.Owner;
import picocli.CommandLine.Option;

/** Who changes the store. */
final class Client {
  @Option(
      names = "--client",
      paramLabel = "N",
      defaultValue = "${env:MILLRACE_CLIENT:-1}",
      description =
          "The client id that owns what is claimed; only it can change that before the lease ends."
              + " Default: the environment's MILLRACE_CLIENT, or 1, so that one command can finish"
              + " what another claimed")
  private long client;

  Owner owner() {
    return Owner.client(client);
  }
}
