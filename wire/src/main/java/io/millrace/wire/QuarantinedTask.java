package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Task;

/**
 * The data of a task that a worker put into quarantine: what it was, and why it was not finished.
 *
 * @param group the group that it came from
 * @param origin the origin that it had there
 * @param claims how often it was claimed
 * @param reason why it is here, as the last worker saw it
 * @param data the data that it had
 */
public record QuarantinedTask(String group, long origin, int claims, String reason, Bytes data) {
  /** What to keep of {@code task}. */
  public static QuarantinedTask of(Task task, String reason) {
    return new QuarantinedTask(task.group(), task.origin(), task.claims(), reason, task.data());
  }

  /** The JSON that {@link #read} reads. */
  public Bytes write() {
    return Bytes.copyOf(
        JsonText.write(json -> {
          json.writeStartObject();
          json.writeStringProperty("group", group);
          json.writeNumberProperty("origin", origin);
          json.writeNumberProperty("claims", claims);
          json.writeStringProperty("reason", JsonText.whole(reason));
          JsonText.data(json, "data", "data64", data, DataForm.TEXT);
          json.writeEndObject();
        }));
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws WireException when the data is something else
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
