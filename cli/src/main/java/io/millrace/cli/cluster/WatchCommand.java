package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.cluster.status.StatusForm;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Shows the cluster whenever something about it has changed. */
@Command(
    name = "watch",
    description =
        "Shows leader, members and partitions whenever something about them has changed, until it"
            + " is told to stop. With --json each change is a line.")
final class WatchCommand extends ClusterCommand {
  private final CountDownLatch stop = new CountDownLatch(1);

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      converter = Durations.class,
      defaultValue = "1s",
      description = "How often it looks. Default: ${DEFAULT-VALUE}")
  private Duration interval = Duration.ofSeconds(1);

  WatchCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void run(VersionedDocuments shared) throws InterruptedException {
    StopSignals.listen(stop::countDown);
    Seen before = null;
    do {
      ClusterStatus status = ClusterStatus.read(shared, System.currentTimeMillis());
      Seen now = Seen.of(status);
      if (!now.equals(before)) {
        before = now;
        show(status);
      }
    } while (!stop.await(interval.toMillis(), TimeUnit.MILLISECONDS));
  }

  /** What counts as a change: that leases are renewed does not. */
  private record Seen(@Nullable String leader, Object members, Object partitions) {
    static Seen of(ClusterStatus status) {
      return new Seen(
          status.leads(),
          status.members(),
          status.partitions().stream()
              .map(one -> one.id() + " " + one.holder() + " " + one.state())
              .toList());
    }
  }

  @Override
  JsonNode form(ClusterStatus status) {
    return StatusForm.status(status);
  }

  @Override
  void print(ClusterStatus status, PrintStream out) {
    Tables.leader(status, out);
    Tables.members(status.members().nodes(), out);
    Tables.partitions(status.partitions(), out);
    Tables.reports(status.reports(), out);
    out.println();
  }
}
