package io.millrace.cli.cluster;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.status.ClusterStatus;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** A command that reads the documents of a cluster. */
abstract class ClusterCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final Terminal terminal;

  @Mixin private DocumentsOptions documents = new DocumentsOptions();

  @Option(names = "--json", description = "Prints JSON instead of text for people.")
  private boolean json;

  ClusterCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public final Integer call() throws InterruptedException {
    try (VersionedDocuments shared = documents.open(TIMEOUT)) {
      run(shared);
    } finally {
      terminal.out().flush();
    }
    return ExitCode.OK;
  }

  /** Shows what is asked for. */
  void run(VersionedDocuments shared) throws InterruptedException {
    show(ClusterStatus.read(shared, System.currentTimeMillis()));
  }

  final void show(ClusterStatus status) {
    if (json) {
      terminal.out().println(form(status));
    } else {
      print(status, terminal.out());
    }
  }

  abstract JsonNode form(ClusterStatus status);

  abstract void print(ClusterStatus status, PrintStream out);
}
