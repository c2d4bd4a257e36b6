package io.millrace.server.jobs;

import io.millrace.http.message.HttpProblem;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The fields of a submission beside its payload. Empty ones count as absent. */
final class SubmittedFields {
  /** More than any of them may have. */
  private static final int MOST_BYTES = 4 << 10;

  private final Set<String> seen = new HashSet<>();
  private @Nullable Priority priority;
  private @Nullable String key;
  private @Nullable String description;

  /**
   * Takes a field.
   *
   * @throws HttpProblem 400 for one that is unknown, comes again, or is wrong
   * @throws io.millrace.jobs.InvalidJobException for one that no job can have
   */
  void take(Form.Field field) throws IOException {
    String name = field.name();
    String text = field.text(MOST_BYTES);
    if (!seen.add(name)) {
      throw HttpProblem.malformed("the form has several fields " + name);
    }
    switch (name) {
      case "priority" -> priority = priority(text);
      case "key" -> key = text.isEmpty() ? null : text;
      case "description" -> description = text.isEmpty() ? null : text;
      default ->
          throw HttpProblem.malformed(
              "the form has an unknown field "
                  + name
                  + "; known are Payload, Priority, Key and Description");
    }
    // Its parts are checked where they are made, so that a wrong one is refused at once.
    Submission _ = new Submission("", Priority.BATCH, key, description);
  }

  private static Priority priority(String text) {
    return Priority.named(text.strip())
        .orElseThrow(() ->
            HttpProblem.malformed(
                "the priority must be \"immediate\" or \"batch\", not \"" + text + "\""));
  }

  /** The key, where it has come and is not empty. */
  @Nullable String key() {
    return key;
  }

  /**
   * All of them.
   *
   * @throws HttpProblem 400 where the priority is missing
   */
  Submission submission(String type) {
    Priority given = priority;
    if (given == null) {
      throw HttpProblem.malformed(
          "the form has no field Priority, which must be \"immediate\" or \"batch\"");
    }
    return new Submission(type, given, key, description);
  }
}
