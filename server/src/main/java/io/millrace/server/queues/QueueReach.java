package io.millrace.server.queues;

import io.millrace.http.Caller;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.search.TaskFilter;
import io.millrace.work.filter.Filter;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;

/**
 * Which queues and tasks a caller reaches: queues by their names, tasks by the queue they are in.
 * Those out of reach are as if they were not there, and so are tasks of queues that were deleted.
 */
record QueueReach(Caller caller, QueueBackend.Definitions queues) {
  static QueueReach of(Request request, QueueBackend.Definitions queues) {
    return new QueueReach(request.caller(), queues);
  }

  /** Whether there is no limit, so that nothing has to be looked up. */
  boolean isUnlimited() {
    return caller.reach().coversEverything();
  }

  boolean includes(Queue queue) {
    return includesName(queue.name());
  }

  private boolean includesName(String name) {
    return caller.reach().includes(Area.QUEUES, name);
  }

  boolean includes(ObjectId queue) {
    return isUnlimited() || queues.find(queue.hex()).filter(this::includes).isPresent();
  }

  boolean includes(QueueTask task) {
    return includes(task.queue());
  }

  /**
   * Checks the name that a queue is to have.
   *
   * @throws HttpProblem 403 if it is out of reach
   */
  void checkName(String name) {
    if (!includesName(name)) {
      throw new HttpProblem(
          403, "the queue " + name + " would be out of reach of " + caller.principal());
    }
  }

  /**
   * Checks a collection of documents from which tasks are created.
   *
   * @throws HttpProblem 403 if it is out of reach
   */
  void checkCollection(String collection) {
    if (!caller.reach().includes(Area.GROUPS, collection)) {
      throw new HttpProblem(
          403, "the collection " + collection + " is out of reach of " + caller.principal());
    }
  }

  /** Those of these tasks that are in reach. */
  Filter within(Filter tasks) {
    if (isUnlimited()) {
      return tasks;
    }
    ArrayNode ids = Json.array();
    queues.all().stream().filter(this::includes).forEach(queue -> ids.add(queue.id().hex()));
    Filter inReach = TaskFilter.of(Json.object().set("queue", Json.object().set("$in", ids)));
    return new Filter.Every(List.of(tasks, inReach));
  }
}
