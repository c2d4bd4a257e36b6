package io.millrace.store.kernel.decisions;

import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction.When;
import io.millrace.store.kernel.state.State;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Collects all reasons to refuse a command, and has the checks that transactions and claims share.
 */
final class RefusalReasons {
  private final State state;
  private final Limits limits;

  /** The reasons, each once, in the order found. */
  private Set<Reason> reasons = Set.of();

  /** The name of the list whose part is being checked; null for none. */
  private @Nullable String list;

  private int place;

  /** The task or document of that part; null for none. */
  private @Nullable TaskRef task;

  private @Nullable DocumentKey document;

  RefusalReasons(State state, Limits limits) {
    this.state = state;
    this.limits = limits;
  }

  boolean none() {
    return reasons.isEmpty();
  }

  List<Reason> reasons() {
    return List.copyOf(reasons);
  }

  /** Adds a reason, unless it has been added before. */
  void add(Reason reason) {
    if (reasons.isEmpty()) {
      reasons = new LinkedHashSet<>();
    }
    reasons.add(reason);
  }

  /** Sets the part that the following reasons are about: its list, and its index from 0. */
  void at(String list, int place) {
    this.list = list;
    this.place = place;
    task = null;
    document = null;
  }

  /** The same for a part about a task; messages name the task instead of the index. */
  void at(String list, int place, TaskRef task) {
    at(list, place);
    if (task.namesTask()) {
      this.task = task;
    }
  }

  /** The same for a part about a document. */
  void at(String list, int place, DocumentKey document) {
    at(list, place);
    this.document = document;
  }

  /** The following reasons are about the command as a whole. */
  void atNone() {
    list = null;
    task = null;
    document = null;
  }

  void malformed(String message) {
    add(new Reason(Kind.MALFORMED, task, document, placed(message)));
  }

  void tooLarge(String message) {
    add(new Reason(Kind.TOO_LARGE, task, document, placed(message)));
  }

  private String placed(String message) {
    return list == null || task != null ? message : list + "/" + place + ": " + message;
  }

  void checkClient(Owner client) {
    if (client.client() < 0 || client.client() > Limits.LARGEST_NUMBER) {
      malformed("client id " + client.client() + " is not between 0 and 2^53 - 1");
    }
  }

  void checkRequestId(@Nullable String requestId) {
    if (requestId != null) {
      checkName("request id", requestId, limits.requestIdBytes());
    }
  }

  void checkName(String what, String name) {
    checkName(what, name, limits.nameBytes());
  }

  private void checkName(String what, String name, int maxBytes) {
    if (Names.isValid(name, maxBytes)) {
      return;
    }
    String message = Names.complaint(what, name, maxBytes);
    if (Names.utf8Length(name) > maxBytes) {
      tooLarge(message);
    } else {
      malformed(message);
    }
  }

  /** Checks the key and the priority of a task; returns whether the priority exists. */
  boolean checkLane(Task.Lane lane) {
    if (!lane.key().isEmpty()) {
      checkName("key of a task to add", lane.key());
    }
    boolean exists = lane.priority() >= 0 && lane.priority() <= Task.Lane.MAX_PRIORITY;
    if (!exists) {
      malformed(
          "priority of a task to add must be between 0 and "
              + Task.Lane.MAX_PRIORITY
              + ", not "
              + lane.priority());
    }
    return exists;
  }

  void checkKey(DocumentKey key) {
    checkName("collection of a document", key.collection());
    checkName("key of a document", key.key());
  }

  /**
   * Checks the size of data.
   *
   * @param of the owner of the data; converted to text only if needed
   */
  void checkData(String what, Object of, int sizeBytes) {
    if (sizeBytes > limits.dataBytes()) {
      String named = what + " of " + of;
      tooLarge(named + " has " + sizeBytes + " bytes, more than " + limits.dataBytes());
    }
  }

  /** The resolved time, or {@code nowMillis} with a reason if it is out of range. */
  long checkTime(String what, When when, long nowMillis) {
    long given =
        switch (when) {
          case When.Now() -> 0;
          case When.At(long epochMillis) -> epochMillis;
          case When.After(long millis) -> millis;
        };
    if (given < 0 || given > Limits.LARGEST_NUMBER) {
      malformed("time of " + what + " must be between 0 and 2^53 - 1 milliseconds, not " + given);
      return nowMillis;
    }
    return Math.min(when.resolve(nowMillis), Limits.LARGEST_NUMBER);
  }

  /** The end of a lease, or {@code nowMillis} with a reason if its length is out of range. */
  long checkLease(String what, long leaseMillis, long min, long nowMillis) {
    return checkMillis(what, leaseMillis, min)
        ? Math.min(nowMillis + leaseMillis, Limits.LARGEST_NUMBER)
        : nowMillis;
  }

  /** Whether a duration is in its range; adds a reason if it is not. */
  boolean checkMillis(String what, long millis, long min) {
    boolean inRange = millis >= min && millis <= Limits.LARGEST_NUMBER;
    if (!inRange) {
      malformed(what + " must be between " + min + " and 2^53 - 1 milliseconds, not " + millis);
    }
    return inRange;
  }

  void checkDepends(List<TaskRef> depends) {
    int at = 0;
    for (TaskRef ref : depends) {
      at("depends", at++, ref);
      require(ref, Kind.MISSING_DEPEND, "to depend on");
    }
    atNone();
  }

  /** The task; null with a reason if it does not exist. */
  @Nullable Task require(TaskRef ref, Kind missing, String purpose) {
    if (!ref.namesTask()) {
      malformed("a task " + purpose + " needs an id or an origin of at least 1");
      return null;
    }
    Task found = state.find(ref);
    if (found == null) {
      add(Reason.of(missing, ref, ref + " " + purpose + " is not in the store"));
    }
    return found;
  }

  /** The rule for names: well-formed Unicode, not empty, and limited in bytes of UTF-8. */
  static final class Names {
    private Names() {}

    /** Whether {@code name} is valid. */
    static boolean isValid(String name, int maxBytes) {
      int bytes = utf8Length(name);
      return bytes > 0 && bytes <= maxBytes;
    }

    /** What is wrong with {@code name}; the message begins with {@code what}. */
    static String complaint(String what, String name, int maxBytes) {
      int bytes = utf8Length(name);
      if (bytes == 0) {
        return what + " must not be empty";
      }
      if (bytes < 0) {
        return what + " is not well-formed Unicode";
      }
      return what + " has " + bytes + " bytes, more than " + maxBytes;
    }

    /** The number of bytes in UTF-8, or -1 if there is an unpaired surrogate. */
    static int utf8Length(String text) {
      int bytes = 0;
      for (int i = 0; i < text.length(); i++) {
        char unit = text.charAt(i);
        if (unit < 0x80) {
          bytes++;
        } else if (unit < 0x800) {
          bytes += 2;
        } else if (!Character.isSurrogate(unit)) {
          bytes += 3;
        } else if (Character.isHighSurrogate(unit)
            && i + 1 < text.length()
            && Character.isLowSurrogate(text.charAt(i + 1))) {
          bytes += 4;
          i++;
        } else {
          return -1;
        }
      }
      return bytes;
    }
  }
}
