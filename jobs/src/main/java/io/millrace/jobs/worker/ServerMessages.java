package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import tools.jackson.databind.json.JsonMapper;

/** The text messages that the server sends. */
final class ServerMessages {
  /** Asks for the status: code 2. */
  static final String ASK = "{\"code\":2}";

  private static final JsonMapper MAPPER = new JsonMapper();

  private ServerMessages() {}

  /**
   * Asks for the status, and says why a result or failure was refused; workers that know only the
   * protocol's own fields read it as the question.
   */
  static String refused(Assignment assignment, String reason) {
    return MAPPER
        .createObjectNode()
        .put("code", 2)
        .put("refused", assignment.job().id().toString())
        .put("info", reason)
        .toString();
  }

  /** Goes before a payload to workers that take several jobs: code 5. */
  static String announce(Assignment assignment) {
    return MAPPER
        .createObjectNode()
        .put("code", 5)
        .put("job", assignment.job().id().toString())
        .put("key", assignment.job().key())
        .put("token", assignment.claim().token())
        .put("bytes", assignment.job().content().payload())
        .toString();
  }
}
