package io.millrace.server.store;

import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import io.millrace.wire.DataForm;

/** Query parameters that several requests share. */
final class Parameters {
  private Parameters() {}

  /** How the client wants data: {@code data=base64} or text. */
  static DataForm data(Request request) {
    String form = request.query().text("data").orElse("text");
    return switch (form) {
      case "text" -> DataForm.TEXT;
      case "base64" -> DataForm.BASE64;
      default ->
          throw HttpProblem.malformed(
              "the parameter data must be \"text\" or \"base64\", not \"" + form + "\"");
    };
  }

  /**
   * The name of something.
   *
   * @param of whose name it is, for the message
   * @throws HttpProblem 400 if it is empty: nothing has such a name
   */
  static String name(String of, String text) {
    if (text.isEmpty()) {
      throw HttpProblem.malformed("the name of a " + of + " must not be empty");
    }
    return text;
  }

  /** The most elements to list; 0 for all, as is any number below. */
  static int limit(Request request) {
    return Math.clamp(
        request.query().integer("limit", 0, Long.MIN_VALUE, Long.MAX_VALUE), 0, Integer.MAX_VALUE);
  }
}
