package io.millrace.cli.cluster;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Report;
import io.millrace.cluster.status.ClusterStatus;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code millrace cluster}: the commands that show a cluster. */
@Command(
    name = "cluster",
    description = "Shows a cluster: its leader, members, locks and partitions.",
    addMethodSubcommands = false)
public final class ClusterCommands extends CommandGroup {
  /** The group with its commands. */
  public CommandLine group() {
    return with("status", "members", "locks", "partitions", "watch");
  }

  @Command(
      name = "status",
      description = "Shows the leader, the members, the partitions and the reports of members.")
  int status(@Mixin View view) {
    return view.show(ClusterStatus::json, Tables::status);
  }

  @Command(name = "members", description = "Lists the members and their workers.")
  int members(@Mixin View view) {
    return view.show(
        ClusterStatus::membersJson, (status, out) -> Tables.members(status.members().nodes(), out));
  }

  @Command(
      name = "locks",
      description = "Lists the locks and their holders, except locks of partitions.")
  int locks(@Mixin View view) {
    return view.show(ClusterStatus::locksJson, (status, out) -> Tables.locks(status.locks(), out));
  }

  @Command(
      name = "partitions",
      description = "Lists the partitions and the members that work on them.")
  int partitions(@Mixin View view) {
    return view.show(
        ClusterStatus::partitionsJson,
        (status, out) -> Tables.partitions(status.partitions(), out));
  }

  @Command(
      name = "watch",
      description =
          "Shows the leader, the members and the partitions each time they change, until it is"
              + " stopped. With --json, each change is one line.")
  int watch(
      @Mixin View view,
      @Option(
              names = "--interval",
              paramLabel = "TIME",
              converter = Durations.class,
              defaultValue = "1s",
              description = "How often to check for changes. Default: ${DEFAULT-VALUE}")
          Duration interval)
      throws InterruptedException {
    CountDownLatch stop = new CountDownLatch(1);
    try (VersionedDocuments shared = view.open()) {
      StopSignals.listen(stop::countDown);
      ComparedStatus before = null;
      do {
        ClusterStatus status = ClusterStatus.read(shared, System.currentTimeMillis());
        ComparedStatus now = ComparedStatus.of(status);
        if (!now.equals(before)) {
          before = now;
          view.show(
              status,
              ClusterStatus::json,
              (it, out) -> {
                Tables.status(it, out);
                out.println();
              });
        }
      } while (!stop.await(interval.toMillis(), TimeUnit.MILLISECONDS));
    } finally {
      out().flush();
    }
    return ExitCode.OK;
  }

  /** What {@code watch} compares; a renewed lease is not a change. */
  private record ComparedStatus(@Nullable String leader, Object members, Object partitions) {
    static ComparedStatus of(ClusterStatus status) {
      return new ComparedStatus(
          status.leads(),
          status.members(),
          status.partitions().stream()
              .map(one -> one.id() + " " + one.holder() + " " + one.state())
              .toList());
    }
  }

  /** Prints a cluster as tables. */
  private static final class Tables {
    private Tables() {}

    static void status(ClusterStatus status, PrintStream out) {
      leader(status, out);
      members(status.members().nodes(), out);
      partitions(status.partitions(), out);
      reports(status.reports(), out);
    }

    private static void leader(ClusterStatus status, PrintStream out) {
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

    /** Prints the reports of members; nothing if there are none. */
    private static void reports(List<Report> reports, PrintStream out) {
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

  /** Options for the documents of a cluster and for the form of the output. */
  static final class View extends TerminalUser {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @Mixin private DocumentsOptions documents = new DocumentsOptions();

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    VersionedDocuments open() {
      return documents.open(TIMEOUT);
    }

    int show(Function<ClusterStatus, JsonNode> form, BiConsumer<ClusterStatus, PrintStream> table) {
      try (VersionedDocuments shared = open()) {
        show(ClusterStatus.read(shared, System.currentTimeMillis()), form, table);
      } finally {
        out().flush();
      }
      return ExitCode.OK;
    }

    void show(
        ClusterStatus status,
        Function<ClusterStatus, JsonNode> form,
        BiConsumer<ClusterStatus, PrintStream> table) {
      if (json) {
        out().println(form.apply(status));
      } else {
        table.accept(status, out());
      }
    }
  }
}
