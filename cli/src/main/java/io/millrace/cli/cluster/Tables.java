package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Table;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.report.Report;
import io.millrace.cluster.status.ClusterStatus;
import java.io.PrintStream;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A cluster for people. */
final class Tables {
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
