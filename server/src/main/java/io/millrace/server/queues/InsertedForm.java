package io.millrace.server.queues;

import io.millrace.queues.ObjectId;
import io.millrace.server.http.Reply;
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
  private static final byte[] HEAD =
      ascii("{\"MongoDB::InsertManyResult\":{\"acknowledged\":true,\"inserted\":[");
  private static final byte[] MIDDLE = ascii("],\"inserted_ids\":{");
  private static final byte[] TAIL = ascii("},\"write_errors\":[],\"write_concern_errors\":[]}}");
  private static final byte[] OID = ascii("{\"$oid\":\"");
  private static final byte[] INDEX = ascii("{\"index\":");
  private static final byte[] ID = ascii(",\"_id\":");
  private static final int HEX = 24;

  private InsertedForm() {}

  static Reply reply(List<ObjectId> ids) {
    return new Reply.Streamed(
        200, Reply.JSON, Map.of(), length(ids.size()), target -> write(ids, target));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static long length(int count) {
    long digits = 0;
    long end = 10;
    for (long begin = 0; begin < count; begin = end, end *= 10) {
      digits += (Math.min(end, count) - begin) * Long.toString(end - 1).length();
    }
    long id = (long) OID.length + HEX + 2;
    long commas = Math.max(0, count - 1);
    long first = count * (INDEX.length + ID.length + id + 1) + digits + commas;
    long second = count * (id + 3) + digits + commas;
    return HEAD.length + first + MIDDLE.length + second + TAIL.length;
  }

  private static void write(List<ObjectId> ids, OutputStream target) throws IOException {
    target.write(HEAD);
    for (int i = 0; i < ids.size(); i++) {
      comma(i, target);
      target.write(INDEX);
      target.write(ascii(Integer.toString(i)));
      target.write(ID);
      id(ids.get(i), target);
      target.write('}');
    }
    target.write(MIDDLE);
    for (int i = 0; i < ids.size(); i++) {
      comma(i, target);
      target.write('"');
      target.write(ascii(Integer.toString(i)));
      target.write('"');
      target.write(':');
      id(ids.get(i), target);
    }
    target.write(TAIL);
  }

  private static void comma(int index, OutputStream target) throws IOException {
    if (index > 0) {
      target.write(',');
    }
  }

  private static void id(ObjectId id, OutputStream target) throws IOException {
    target.write(OID);
    target.write(ascii(id.hex()));
    target.write('"');
    target.write('}');
  }
}
