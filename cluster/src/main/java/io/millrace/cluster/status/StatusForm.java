package io.millrace.cluster.status;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.report.Report;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A cluster's status as JSON, for scripts and over HTTP. Times are milliseconds since 1970. */
public final class StatusForm {
  private StatusForm() {}

  /**
   * {@code leader} (a token or null), {@code leaderExpires}, {@code fence}, {@code members}, {@code
   * partitions}, {@code status}.
   */
  public static ObjectNode status(ClusterStatus status) {
    ObjectNode json = leader(status);
    json.set("members", members(status.members()));
    json.set("partitions", partitions(status.partitions()));
    json.set("status", reports(status.reports()));
    return json;
  }

  /** {@code leader} (a token or null), {@code leaderExpires} (0 for none) and its {@code fence}. */
  public static ObjectNode leader(ClusterStatus status) {
    ClusterStatus.LockView leader = status.leader();
    ObjectNode json = DocumentJson.object();
    json.put("leader", status.leads());
    json.put("leaderExpires", leader == null ? 0 : leader.expireMillis());
    json.put("fence", leader == null ? 0 : leader.fence());
    return json;
  }

  /** Each with {@code token} and {@code workers}. */
  public static ArrayNode members(MemberList members) {
    ArrayNode list = DocumentJson.object().arrayNode();
    for (Peer peer : members.nodes()) {
      list.addObject().put("token", peer.token()).put("workers", peer.workers());
    }
    return list;
  }

  /** Each with {@code id}, {@code holder} (a token or null), {@code expire} and {@code fence}. */
  public static ArrayNode locks(List<ClusterStatus.LockView> locks) {
    ArrayNode list = DocumentJson.object().arrayNode();
    for (ClusterStatus.LockView lock : locks) {
      list.addObject()
          .put("id", lock.key())
          .put("holder", lock.holder())
          .put("expire", lock.expireMillis())
          .put("fence", lock.fence());
    }
    return list;
  }

  /** Each with {@code id}, {@code holder}, {@code expire}, {@code state} and {@code fence}. */
  public static ArrayNode partitions(List<ClusterStatus.PartitionView> partitions) {
    ArrayNode list = DocumentJson.object().arrayNode();
    for (ClusterStatus.PartitionView partition : partitions) {
      list.addObject()
          .put("id", partition.id())
          .put("holder", partition.holder())
          .put("expire", partition.expireMillis())
          .put("state", partition.state().name().toLowerCase(Locale.ROOT))
          .put("fence", partition.fence());
    }
    return list;
  }

  /**
   * Each with {@code name}, {@code token}, {@code time} and {@code text}, or {@code values} instead
   * of that.
   */
  public static ArrayNode reports(List<Report> reports) {
    ArrayNode list = DocumentJson.object().arrayNode();
    for (Report report : reports) {
      ObjectNode json =
          list.addObject()
              .put("name", report.name())
              .put("token", report.token())
              .put("time", report.timeMillis());
      if (report.values().isEmpty()) {
        json.put("text", report.text());
      } else {
        ObjectNode values = json.putObject("values");
        report.values().forEach(values::put);
      }
    }
    return list;
  }
}
