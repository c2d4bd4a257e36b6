package io.millrace.queues;

import tools.jackson.databind.node.ObjectNode;

/**
 * A queue task as it is stored.
 *
 * @param id its id
 * @param queue the queue that it belongs to for life
 * @param params what makes it different from others; not to be changed
 * @param ctimeMillis when it was created, in milliseconds since the epoch
 * @param progress how far it is
 * @param output what it has written, once it has ended
 * @param place where it stands in the store; its kernel task is named by origin
 */
public record QueueTask(
    ObjectId id,
    ObjectId queue,
    ObjectNode params,
    long ctimeMillis,
    Progress progress,
    TaskOutput output,
    Place place) {

  /** Its status code, see {@link Status}. */
  public int status() {
    return progress.status();
  }

  QueueTask with(Progress changed) {
    return new QueueTask(id, queue, params, ctimeMillis, changed, output, place);
  }

  QueueTask with(TaskOutput written) {
    return new QueueTask(id, queue, params, ctimeMillis, progress, written, place);
  }
}
