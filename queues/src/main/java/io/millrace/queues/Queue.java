package io.millrace.queues;

/**
 * A queue as it is stored.
 *
 * @param id its id
 * @param name its unique name
 * @param plugin the name of the plugin that runs its tasks
 * @param settings what an operator chose for it
 * @param health what keeps it from being served
 * @param place where it stands in the store; its kernel task is named by id
 */
public record Queue(
    ObjectId id,
    String name,
    String plugin,
    QueueSettings settings,
    QueueHealth health,
    Place place) {

  /** The group of kernel tasks that nodes claim from. */
  String waitingGroup() {
    return waitingGroup(id);
  }

  static String waitingGroup(ObjectId queue) {
    return "queues/" + queue.hex();
  }

  static String heldGroup(ObjectId queue) {
    return "queues/" + queue.hex() + "/held";
  }

  static String finishedGroup(ObjectId queue) {
    return "queues/" + queue.hex() + "/finished";
  }

  static boolean isFinishedGroup(String group) {
    return group.startsWith("queues/") && group.endsWith("/finished");
  }

  /** The group of the kernel task of a queue task with this status. */
  static String group(ObjectId queue, int status) {
    if (Status.isFinished(status)) {
      return finishedGroup(queue);
    }
    return Status.isHeld(status) ? heldGroup(queue) : waitingGroup(queue);
  }
}
