package io.millrace.server.queues;

import io.millrace.http.message.Reply;
import io.millrace.queues.ObjectId;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The answer to a creation of many tasks, the same as that of {@link Results}, written without a
 * tree: it is as long as the request, and each id stands in it twice.
 */
final class InsertedForm {
  private static final String HEAD =
      "{\"MongoDB::InsertManyResult\":{\"acknowledged\":true,\"inserted\":[";
  private static final String MIDDLE = "],\"inserted_ids\":{";
  private static final String TAIL = "},\"write_errors\":[],\"write_concern_errors\":[]}}";
  private static final String OID = "{\"$oid\":\"";
  private static final String INDEX = "{\"index\":";
  private static final String ID = ",\"_id\":";
  private static final int HEX = 24;

  /** How much is put together before it is written. */
  private static final int PART = 8_000;

  private InsertedForm() {}

  static Reply reply(List<ObjectId> ids) {
    return new Reply.Streamed(
        200, Reply.JSON, Map.of(), length(ids.size()), target -> write(ids, target));
  }

  private static long length(int count) {
    long digits = 0;
    long end = 10;
    for (long begin = 0; begin < count; begin = end, end *= 10) {
      digits += (Math.min(end, count) - begin) * Long.toString(end - 1).length();
    }
    long id = (long) OID.length() + HEX + 2;
    long commas = Math.max(0, count - 1);
    long first = count * (INDEX.length() + ID.length() + id + 1) + digits + commas;
    long second = count * (id + 3) + digits + commas;
    return HEAD.length() + first + MIDDLE.length() + second + TAIL.length();
  }

  private static void write(List<ObjectId> ids, OutputStream target) throws IOException {
    StringBuilder text = new StringBuilder(PART).append(HEAD);
    for (int i = 0; i < ids.size(); i++) {
      text.append(i > 0 ? "," : "").append(INDEX).append(i).append(ID);
      id(ids.get(i), text).append('}');
      if (text.length() > PART) {
        flush(text, target);
      }
    }
    text.append(MIDDLE);
    for (int i = 0; i < ids.size(); i++) {
      text.append(i > 0 ? ",\"" : "\"").append(i).append("\":");
      id(ids.get(i), text);
      if (text.length() > PART) {
        flush(text, target);
      }
    }
    flush(text.append(TAIL), target);
  }

  private static StringBuilder id(ObjectId id, StringBuilder text) {
    return text.append(OID).append(id.hex()).append("\"}");
  }

  private static void flush(StringBuilder text, OutputStream target) throws IOException {
    target.write(text.toString().getBytes(StandardCharsets.US_ASCII));
    text.setLength(0);
  }
}
