package io.millrace.server.queues;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.Output;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Presence;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueCounts;
import io.millrace.queues.QueueSettings;
import io.millrace.queues.QueueTask;
import io.millrace.queues.search.ArchiveSearch;
import io.millrace.queues.search.Projection;
import tools.jackson.databind.node.ObjectNode;

/** What is shown of queues, nodes and tasks. */
final class Shapes {
  /** What stands for output where brevity is wanted. */
  private static final String TERSE = "[terse mode]";

  private final OutputReader outputs;

  Shapes(OutputReader outputs) {
    this.outputs = outputs;
  }

  static ObjectNode of(Queue queue, QueueCounts counts) {
    QueueSettings settings = queue.settings();
    ObjectNode json = Form.object();
    json.put("id", queue.id().hex());
    json.put("plugin", queue.plugin());
    json.put("name", queue.name());
    json.put("threads", settings.threads());
    json.put("queued", counts.queued());
    json.put("running", counts.running());
    json.put("completed", counts.completed());
    json.put("sort", settings.sort().word());
    json.set("nodes_pin", Form.strings(settings.nodesPin()));
    json.set("nodes_ignore", Form.strings(settings.nodesIgnore()));
    json.put("requeue_orphans", settings.requeueOrphans());
    return json;
  }

  static ObjectNode of(NodeRecord node) {
    ObjectNode json = Form.object();
    json.set("_id", Form.id(node.id()));
    json.put("id", node.id().hex());
    json.put("node", node.name());
    json.put("timestamp", node.timestampMillis());
    json.put("maxthreads", node.maxthreads());
    Presence presence = node.presence();
    if (presence != null) {
      json.put("host", presence.host());
      json.set("plugins", Form.strings(presence.plugins()));
    }
    return json;
  }

  /** How much of a task is shown. */
  enum Detail {
    /** That there is output. */
    TERSE,
    /** The output too. */
    FULL
  }

  ObjectNode of(QueueTask task, Detail detail, Projection projection) {
    ObjectNode json = Form.object();
    json.set("_id", Form.id(task.id()));
    json.set("queue", Form.id(task.queue()));
    json.put("status", task.status());
    json.put("node", task.progress().node());
    json.set("params", task.params());
    json.put("ctime", task.ctimeMillis());
    json.put("mtime", task.progress().mtimeMillis());
    if (projection.wants("stdout")) {
      output(json, "stdout", task.output().stdout(), detail);
    }
    if (projection.wants("stderr")) {
      output(json, "stderr", task.output().stderr(), detail);
    }
    Output mixed = task.output().mixed();
    if (!(mixed instanceof Output.None) && projection.wants("mixedout")) {
      output(json, "mixedout", mixed, detail);
    }
    if (task.progress().reason() != null) {
      json.put("reason", task.progress().reason());
    }
    if (task.progress().orphaned() > 0) {
      json.put("orphaned", task.progress().orphaned());
    }
    return projection.of(json);
  }

  /** The same, saying so where it comes from the archive. */
  ObjectNode of(ArchiveSearch.Found found, Detail detail, Projection projection) {
    ObjectNode json = of(found.task(), detail, projection);
    return found.archived() ? json.put("archived", true) : json;
  }

  private void output(ObjectNode json, String field, Output output, Detail detail) {
    switch (output) {
      case Output.None() -> json.putNull(field);
      case Output.Text(String text) ->
          json.put(field, detail == Detail.TERSE && !text.isEmpty() ? TERSE : text);
      case Output.Stored stored when !stored.shownAsText() ->
          json.set(field, Form.id(stored.file()));
      case Output.Stored stored ->
          json.put(field, detail == Detail.TERSE ? TERSE : outputs.text(stored).orElse(null));
    }
  }
}
