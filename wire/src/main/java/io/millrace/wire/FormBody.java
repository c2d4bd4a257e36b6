package io.millrace.wire;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** Request bodies of old clients that post their JSON as a form field. */
final class FormBody {
  private FormBody() {}

  /**
   * The JSON of a body: the body itself, or the value of {@code field} where the body is a form.
   * Told apart by content, since curl calls everything a form.
   */
  static byte[] json(byte[] body, String field) {
    if (!startsLikeForm(body)) {
      return body;
    }
    String form = new String(body, StandardCharsets.ISO_8859_1);
    for (String pair : form.split("&", -1)) {
      if (pair.startsWith(field + "=")) {
        try {
          return URLDecoder.decode(pair.substring(field.length() + 1), StandardCharsets.UTF_8)
              .getBytes(StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
          throw new WireException("the form field " + field + " is not form-encoded", e);
        }
      }
    }
    throw new WireException("expected a JSON object or the form field " + field);
  }

  private static boolean startsLikeForm(byte[] body) {
    for (byte one : body) {
      if (one > ' ') {
        return Character.isLetter(one)
            && new String(body, 0, Math.min(body.length, 4096), StandardCharsets.ISO_8859_1)
                .contains("=");
      }
    }
    return false;
  }
}
