package io.millrace.cli.cluster;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.TerminalCommand;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.report.Report;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.cluster.status.StatusForm;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** The commands that look at a cluster. */
public final class ClusterCommands {
  private ClusterCommands() {}

  /** All of them, under {@code cluster}. */
  public static CommandLine group() {
    return CommandGroup.of(
        "cluster",
        "Shows a cluster: its leader, members, locks and partitions.",
        new ShowStatus(),
        new ListMembers(),
        new ListLocks(),
        new ListPartitions(),
        new WatchCluster());
  }

  /** Shows leader, members, partitions and what members report. */
  @Command(
      name = "status",
      description = "Shows the leader, the members, the partitions and the reports of members.")
  private static final class ShowStatus extends ClusterCommand {
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
    }
  }

  /** Lists the members and their workers. */
  @Command(name = "members", description = "Lists the members and their workers.")
  private static final class ListMembers extends ClusterCommand {
    @Override
    JsonNode form(ClusterStatus status) {
      return StatusForm.members(status.members());
    }

    @Override
    void print(ClusterStatus status, PrintStream out) {
      Tables.members(status.members().nodes(), out);
    }
  }

  /** Lists locks and their holders, without those of partitions. */
  @Command(
      name = "locks",
      description = "Lists the locks and their holders, except locks of partitions.")
  private static final class ListLocks extends ClusterCommand {
    @Override
    JsonNode form(ClusterStatus status) {
      return StatusForm.locks(status.locks());
    }

    @Override
    void print(ClusterStatus status, PrintStream out) {
      Tables.locks(status.locks(), out);
    }
  }

  /** Lists the partitions and who works on them. */
  @Command(
      name = "partitions",
      description = "Lists the partitions and the members that work on them.")
  private static final class ListPartitions extends ClusterCommand {
    @Override
    JsonNode form(ClusterStatus status) {
      return StatusForm.partitions(status.partitions());
    }

    @Override
    void print(ClusterStatus status, PrintStream out) {
      Tables.partitions(status.partitions(), out);
    }
  }

  /** Shows the cluster whenever something about it has changed. */
  @Command(
      name = "watch",
      description =
          "Shows the leader, the members and the partitions each time they change, until it is"
              + " stopped. With --json, each change is one line.")
  private static final class WatchCluster extends ClusterCommand {
    private final CountDownLatch stop = new CountDownLatch(1);

    @Option(
        names = "--interval",
        paramLabel = "TIME",
        converter = Durations.class,
        defaultValue = "1s",
        description = "How often to check for changes. Default: ${DEFAULT-VALUE}")
    private Duration interval = Duration.ofSeconds(1);

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

  /** A cluster for people. */
  private static final class Tables {
    private Tables() {}

    static void leader(ClusterStatus status, PrintStream out) {
      ClusterStatus.LockView leader = status.leader();
      if (status.leads() == null || leader == null) {
        out.println("leader: none");
      } else {
        out.printf(
            "leader: %s until %s, fence %d%n",
            status.leads(), time(leader.expireMillis()), leader.fence());
      }
    }

    static void members(List<Peer> members, PrintStream out) {
      Table table = new Table("MEMBER", "WORKERS");
      members.forEach(member -> table.row(member.token(), member.workers()));
      table.print(out);
    }

    static void locks(List<ClusterStatus.LockView> locks, PrintStream out) {
      Table table = new Table("LOCK", "HOLDER", "EXPIRES", "FENCE");
      for (ClusterStatus.LockView lock : locks) {
        table.row(lock.key(), text(lock.holder()), time(lock.expireMillis()), lock.fence());
      }
      table.print(out);
    }

    static void partitions(List<ClusterStatus.PartitionView> partitions, PrintStream out) {
      Table table = new Table("PARTITION", "STATE", "HOLDER", "EXPIRES", "FENCE");
      for (ClusterStatus.PartitionView partition : partitions) {
        table.row(
            partition.id(),
            partition.state().name().toLowerCase(Locale.ROOT),
            text(partition.holder()),
            time(partition.expireMillis()),
            partition.fence());
      }
      table.print(out);
    }

    private static String text(@Nullable String holder) {
      return holder == null ? "-" : holder;
    }

    private static String time(long millis) {
      return millis == 0 ? "-" : Instant.ofEpochMilli(millis).toString();
    }

    /** What members report; nothing where they do not. */
    static void reports(List<Report> reports, PrintStream out) {
      if (reports.isEmpty()) {
        return;
      }
      Table table = new Table("STATUS", "MEMBER", "TIME", "REPORT");
      for (Report report : reports) {
        table.row(
            report.name(),
            report.token(),
            time(report.timeMillis()),
            report.values().isEmpty() ? report.text() : words(report));
      }
      table.print(out);
    }

    private static String words(Report report) {
      return report.values().entrySet().stream()
          .map(value -> value.getKey() + "=" + value.getValue())
          .collect(Collectors.joining(", "));
    }
  }

  /** A command that reads the documents of a cluster. */
  private abstract static class ClusterCommand extends TerminalCommand {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @Mixin private DocumentsOptions documents = new DocumentsOptions();

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public final Integer call() throws InterruptedException {
      try (VersionedDocuments shared = documents.open(TIMEOUT)) {
        run(shared);
      } finally {
        out().flush();
      }
      return ExitCode.OK;
    }

    /** Shows what is asked for. */
    void run(VersionedDocuments shared) throws InterruptedException {
      show(ClusterStatus.read(shared, System.currentTimeMillis()));
    }

    final void show(ClusterStatus status) {
      if (json) {
        out().println(form(status));
      } else {
        print(status, out());
      }
    }

    abstract JsonNode form(ClusterStatus status);

    abstract void print(ClusterStatus status, PrintStream out);
  }
}
