package io.millrace.wire;

import io.millrace.store.Claim;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupQuery.Place;
import io.millrace.store.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The requests of clients as JSON. Every {@code read} method throws {@link WireException} if the
 * bytes do not have the expected form; the message says what is wrong. The store checks limits and
 * contradictions. Thread-safe.
 */
public final class Requests {
  /** The fields of a transaction. */
  public static final Set<String> OF_TRANSACTION =
      Set.of(
          "clientid",
          "adds",
          "updates",
          "renewals",
          "takings",
          "deletes",
          "depends",
          "puts",
          "documentdeletes",
          "documentdepends",
          "requestid",
          "override");

  /** The fields of a claim. */
  public static final Set<String> OF_CLAIM =
      Set.of(
          "clientid",
          "group",
          "groups",
          "duration",
          "count",
          "order",
          "whilefewerthan",
          "wait",
          "depends",
          "requestid");

  /** What ends the place of a task that has a key or a priority. */
  private static final String KEYED = "~keyed";

  private Requests() {}

  /**
   * Reads the body of {@code POST /store/update}: JSON, or a form whose field {@code update}
   * contains the JSON.
   *
   * @param principal the name of the authenticated user; {@link io.millrace.store.Owner#ANYONE} if
   *     there is no authentication
   */
  public static Transaction readTransaction(byte[] body, String principal) {
    return readTransaction(body, principal, Integer.MAX_VALUE);
  }

  /**
   * The same, but reading stops as soon as there are too many parts.
   *
   * @param maxParts the largest number of adds, updates, deletes and so on together
   * @throws WireException.TooManyParts if there are more
   */
  public static Transaction readTransaction(byte[] body, String principal, int maxParts) {
    return JsonInput.read(
        FormBody.json(body, "update"),
        in -> {
          in.limitElements(maxParts);
          return TransactionForm.read(in, principal);
        });
  }

  /**
   * Reads the body of {@code POST /store/claim}: JSON, or a form whose field {@code claim} contains
   * the JSON.
   *
   * @param principal the name of the authenticated user; {@link io.millrace.store.Owner#ANYONE} if
   *     there is no authentication
   */
  public static Claim readClaim(byte[] body, String principal) {
    return JsonInput.read(FormBody.json(body, "claim"), in -> ClaimForm.read(in, principal));
  }

  /** Reads the body of {@code POST /store/tasks}: the tasks to read. */
  public static List<TaskRef> readRefs(byte[] body) {
    return JsonInput.read(
        body,
        in -> {
          List<TaskRef> refs = null;
          for (String name = in.object(); name != null; name = in.field()) {
            if (!name.equals("ids")) {
              throw in.unknown();
            }
            refs = in.list(TaskForm::readRef);
          }
          if (refs == null) {
            throw in.wrong("needs a list of ids");
          }
          for (int i = 0; i < refs.size(); i++) {
            if (!refs.get(i).namesTask()) {
              throw new WireException("ids/" + i + " needs an id or an origin, at least 1");
            }
          }
          return refs;
        });
  }

  /**
   * Reads the tasks in a path, separated by commas: {@code 14} is the task with that id, {@code
   * ~10} the task with that origin and any id, {@code 14~10} the task with that id and that origin.
   *
   * @param path the part after {@code /store/tasks/} or {@code /store/task/}, percent-decoded
   */
  public static List<TaskRef> readRefs(String path) {
    List<TaskRef> refs = new ArrayList<>();
    for (String one : path.split(",", -1)) {
      int tilde = one.indexOf('~');
      long id = tilde == 0 ? 0 : number(tilde < 0 ? one : one.substring(0, tilde), one);
      refs.add(new TaskRef(id, tilde < 0 ? 0 : number(one.substring(tilde + 1), one)));
    }
    return refs;
  }

  private static long number(String digits, String whole) {
    long id = digits.matches("[0-9]{1,18}") ? Long.parseLong(digits) : 0;
    if (id == 0) {
      throw new WireException("not a task id: \"" + whole + "\"; an id is a positive number");
    }
    return id;
  }

  /**
   * Reads the place of a task in the list of a group: {@code 1388552400000~10} that of a task with
   * this {@code timespec} and this origin, {@code 1388552400000~10~keyed} if it has a key or a
   * priority.
   */
  public static Place readPlace(String text) {
    boolean keyed = text.endsWith(KEYED);
    String[] parts =
        (keyed ? text.substring(0, text.length() - KEYED.length()) : text).split("~", -1);
    try {
      if (parts.length == 2) {
        return new Place(Long.parseLong(parts[0]), number(parts[1], text), keyed);
      }
    } catch (NumberFormatException | WireException _) {
      // Said below.
    }
    throw new WireException(
        "not the place of a task: \""
            + text
            + "\"; it is the timespec and the origin of the last task of the page before, for"
            + " example 1388552400000~10, and ~keyed if that has a key or a priority");
  }

  /** Writes a place for {@link #readPlace}. */
  public static String write(Place place) {
    return place.availableAtMillis() + "~" + place.origin() + (place.inLane() ? KEYED : "");
  }

  /** Writes a body for {@link #readTransaction}, without the principal. */
  public static byte[] write(Transaction transaction) {
    return JsonText.write(json -> TransactionForm.write(json, transaction));
  }

  /** Writes a body for {@link #readClaim}, without the principal. */
  public static byte[] write(Claim claim) {
    return JsonText.write(json -> ClaimForm.write(json, claim));
  }

  /** Writes a body for {@link #readRefs(byte[])}. */
  public static byte[] write(List<TaskRef> refs) {
    return JsonText.write(json -> {
      json.writeStartObject();
      JsonText.list(json, "ids", refs, TaskForm::writeRef);
      json.writeEndObject();
    });
  }

  /** Request bodies of old clients that post their JSON as a form field. */
  private static final class FormBody {
    private FormBody() {}

    /**
     * The JSON of a body: the body itself, or the value of {@code field} if the body is a form. The
     * content decides and not the media type, because curl sends everything as a form.
     */
    static byte[] json(byte[] body, String field) {
      if (!startsLikeForm(body)) {
        return body;
      }
      byte[] start = (field + "=").getBytes(StandardCharsets.US_ASCII);
      byte @Nullable [] json = null;
      int begin = 0;
      while (begin <= body.length) {
        int end = indexOf(body, '&', begin);
        if (startsWith(body, begin, end, start)) {
          if (json != null) {
            throw new WireException("the form field " + field + " is given twice");
          }
          json = decoded(Arrays.copyOfRange(body, begin + start.length, end), field);
        }
        begin = end + 1;
      }
      if (json == null) {
        throw new WireException("expected a JSON object or the form field " + field);
      }
      return json;
    }

    /** The percent-decoded value of the field, which must be UTF-8. */
    private static byte[] decoded(byte[] value, String field) {
      int length = 0;
      for (int i = 0; i < value.length; i++) {
        byte one = value[i];
        if (one == '%') {
          int high = i + 2 < value.length ? Character.digit(value[i + 1], 16) : -1;
          int low = i + 2 < value.length ? Character.digit(value[i + 2], 16) : -1;
          if (high < 0 || low < 0) {
            throw new WireException(
                "the form field " + field + " has % without two hexadecimal digits at offset " + i);
          }
          one = (byte) (high << 4 | low);
          i += 2;
        } else if (one == '+') {
          one = ' ';
        }
        value[length++] = one;
      }
      byte[] json = Arrays.copyOf(value, length);
      String error = Utf8.error(json);
      if (error != null) {
        throw new WireException("the form field " + field + ", decoded, " + error);
      }
      return json;
    }

    /** The offset of the first {@code wanted} byte from {@code begin} on, or else the length. */
    private static int indexOf(byte[] body, char wanted, int begin) {
      int at = begin;
      while (at < body.length && body[at] != wanted) {
        at++;
      }
      return at;
    }

    private static boolean startsWith(byte[] body, int begin, int end, byte[] start) {
      return end - begin >= start.length
          && Arrays.equals(body, begin, begin + start.length, start, 0, start.length);
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
}
