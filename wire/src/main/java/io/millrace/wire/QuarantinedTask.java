package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Task;

/**
 * The data of a task in a quarantine group: the task that a worker gave up, and the reason.
 *
 * @param group the group of the original task
 * @param origin its origin
 * @param claims how many times it was claimed
 * @param reason why the last worker gave it up, for people
 * @param data its data
 */
public record QuarantinedTask(String group, long origin, int claims, String reason, Bytes data) {
  /** The entry for {@code task}, which is given up for {@code reason}. */
  public static QuarantinedTask of(Task task, String reason) {
    return new QuarantinedTask(task.group(), task.origin(), task.claims(), reason, task.data());
  }

  /** The entry as JSON, for {@link #read}. */
  public Bytes write() {
    return Bytes.copyOf(
        JsonText.write(json -> {
          json.writeStartObject();
          json.writeStringProperty("group", group);
          json.writeNumberProperty("origin", origin);
          json.writeNumberProperty("claims", claims);
          json.writeStringProperty("reason", JsonText.wellFormed(reason));
          JsonText.data(json, "data", "data64", data, DataForm.TEXT);
          json.writeEndObject();
        }));
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws WireException if the data is something else
   */
  public static QuarantinedTask read(Bytes data) {
    return JsonInput.read(
        data.toArray(),
        in -> {
          String group = null;
          long origin = 0;
          int claims = 0;
          String reason = "";
          Bytes kept = Bytes.EMPTY;
          for (String name = in.object(); name != null; name = in.field()) {
            switch (name) {
              case "group" -> group = in.text();
              case "origin" -> origin = in.integer();
              case "claims" -> claims = (int) in.integer(0, Integer.MAX_VALUE);
              case "reason" -> reason = in.text();
              case "data" -> kept = in.bytes();
              case "data64" -> kept = in.base64();
              default -> in.skip();
            }
          }
          if (group == null || origin == 0) {
            throw in.wrong("needs a group and an origin");
          }
          return new QuarantinedTask(group, origin, claims, reason, kept);
        });
  }
}
