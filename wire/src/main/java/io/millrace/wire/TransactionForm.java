package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.Renewal;
import io.millrace.store.Transaction.Taking;
import io.millrace.store.Transaction.Update;
import io.millrace.store.Transaction.When;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The JSON of a transaction. */
final class TransactionForm {
  private TransactionForm() {}

  static Transaction read(JsonInput in, String principal) {
    long client = -1;
    List<Add> adds = List.of();
    List<Update> updates = List.of();
    List<Renewal> renewals = List.of();
    List<Taking> takings = List.of();
    List<TaskRef> deletes = List.of();
    List<TaskRef> depends = List.of();
    List<Transaction.Put> puts = List.of();
    List<Transaction.DocumentVersion> documentDeletes = List.of();
    List<Transaction.DocumentVersion> documentDepends = List.of();
    String requestId = null;
    boolean override = false;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "clientid" -> client = Scalars.clientId(in);
        case "adds" -> adds = in.list(TransactionForm::readAdd);
        case "updates" -> updates = in.list(TransactionForm::readUpdate);
        case "renewals" -> renewals = in.list(TransactionForm::readRenewal);
        case "takings" -> takings = in.list(TransactionForm::readTaking);
        case "deletes" -> deletes = in.list(TaskForm::readRef);
        case "depends" -> depends = in.list(TaskForm::readRef);
        case "puts" -> puts = in.list(DocumentForm::readPut);
        case "documentdeletes" -> documentDeletes = in.list(DocumentForm::readVersion);
        case "documentdepends" -> documentDepends = in.list(DocumentForm::readVersion);
        case "requestid" -> requestId = in.text();
        case "override" -> override = in.bool();
        default -> throw in.unknown();
      }
    }
    if (client < 0) {
      throw in.wrong("needs a clientid, a whole number");
    }
    return new Transaction(
        new Owner(principal, client),
        adds,
        updates,
        renewals,
        takings,
        deletes,
        depends,
        puts,
        documentDeletes,
        documentDepends,
        requestId,
        override);
  }

  static void write(JsonGenerator json, Transaction transaction) {
    json.writeStartObject();
    json.writeNumberProperty("clientid", Scalars.clientId(transaction.client().client()));
    JsonText.listIfAny(json, "adds", transaction.adds(), TransactionForm::writeAdd);
    JsonText.listIfAny(json, "updates", transaction.updates(), TransactionForm::writeUpdate);
    JsonText.listIfAny(json, "renewals", transaction.renewals(), TransactionForm::writeRenewal);
    JsonText.listIfAny(json, "takings", transaction.takings(), TransactionForm::writeTaking);
    TaskForm.writeRefs(json, "deletes", transaction.deletes());
    TaskForm.writeRefs(json, "depends", transaction.depends());
    JsonText.listIfAny(json, "puts", transaction.puts(), DocumentForm::writePut);
    DocumentForm.writeVersions(json, "documentdeletes", transaction.documentDeletes());
    DocumentForm.writeVersions(json, "documentdepends", transaction.documentDepends());
    if (transaction.requestId() != null) {
      json.writeStringProperty("requestid", transaction.requestId());
    }
    if (transaction.override()) {
      json.writeBooleanProperty("override", true);
    }
    json.writeEndObject();
  }

  private static Add readAdd(JsonInput in) {
    String group = null;
    Bytes data = null;
    When when = null;
    boolean owned = true;
    String local = null;
    String key = "";
    int priority = 0;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "group" -> group = in.text();
        case "data" -> data = only(in, data, in.bytes());
        case "data64" -> data = only(in, data, in.base64());
        case "timespec", "duration" -> when = readWhen(in, when);
        case "key" -> key = in.text();
        case "priority" -> priority = TaskForm.priority(in);
        case "owned" -> owned = in.bool();
        case "local" -> local = in.text();
        default -> skipAnswerField(in, name);
      }
    }
    // The store refuses a missing group, together with everything else that is wrong.
    return new Add(
        group == null ? "" : group,
        data == null ? Bytes.EMPTY : data,
        when == null ? When.now() : when,
        owned && when != null && !(when instanceof When.Now),
        local,
        Task.Lane.of(key, priority));
  }

  private static void writeAdd(JsonGenerator json, Add add) {
    json.writeStartObject();
    json.writeStringProperty("group", add.group());
    JsonText.data(json, "data", "data64", add.data(), DataForm.TEXT);
    writeWhen(json, add.when());
    if (!add.owned() && !isNow(add.when())) {
      json.writeBooleanProperty("owned", false);
    }
    if (add.localName() != null) {
      json.writeStringProperty("local", add.localName());
    }
    TaskForm.writeLane(json, add.lane());
    json.writeEndObject();
  }

  private static Update readUpdate(JsonInput in) {
    long id = 0;
    long origin = 0;
    Bytes data = null;
    boolean keep = false;
    When when = null;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "id" -> id = in.integer();
        case "origin" -> origin = in.integer();
        case "data" -> data = only(in, data, in.bytes());
        case "data64" -> data = only(in, data, in.base64());
        case "keep" -> keep = in.bool();
        case "timespec", "duration" -> when = readWhen(in, when);
        case "group" -> in.skip();
        default -> skipAnswerField(in, name);
      }
    }
    if (keep && data != null) {
      throw in.wrong("has both new data and keep");
    }
    if (data == null && !keep) {
      data = Bytes.EMPTY;
    }
    return new Update(new TaskRef(id, origin), data, when == null ? When.now() : when);
  }

  private static void writeUpdate(JsonGenerator json, Update update) {
    json.writeStartObject();
    TaskForm.writeRefFields(json, update.task());
    if (update.data() == null) {
      json.writeBooleanProperty("keep", true);
    } else {
      JsonText.data(json, "data", "data64", update.data(), DataForm.TEXT);
    }
    writeWhen(json, update.when());
    json.writeEndObject();
  }

  /** Skips a field that only answers have: some clients send a task back as they received it. */
  private static void skipAnswerField(JsonInput in, String name) {
    switch (name) {
      case "id", "ownerid", "origin", "principal", "token", "claims", "state", "key", "priority" ->
          in.skip();
      default -> throw in.unknown();
    }
  }

  private static Bytes only(JsonInput in, @Nullable Bytes before, Bytes data) {
    if (before != null) {
      throw in.wrong("conflicts with an earlier field: give data or data64, not both");
    }
    return data;
  }

  /**
   * Reads a time in milliseconds: a positive number counts from the epoch, a negative one from now,
   * and 0 means now.
   *
   * @param before the value of an earlier field, null if there is none. The field has two names,
   *     because the Go client of TaskStore calls it {@code duration}; only one may be given
   */
  private static When readWhen(JsonInput in, @Nullable When before) {
    if (before != null) {
      throw in.wrong(
          "conflicts with an earlier field: give timespec or duration (its old name), not both");
    }
    long timespec = in.integer(-Long.MAX_VALUE, Long.MAX_VALUE);
    return timespec < 0 ? new When.After(-timespec) : new When.At(timespec);
  }

  private static boolean isNow(When when) {
    return when instanceof When.Now || when.equals(new When.After(0));
  }

  private static void writeWhen(JsonGenerator json, When when) {
    switch (when) {
      case When.Now() -> {}
      case When.After(long millis) -> {
        if (millis < 0) {
          throw new WireException("a task cannot become available " + millis + " ms from now");
        }
        if (millis > 0) {
          json.writeNumberProperty("timespec", -millis);
        }
      }
      case When.At(long epochMillis) -> {
        if (epochMillis < 0) {
          throw new WireException("a task cannot become available before 1970");
        }
        json.writeNumberProperty("timespec", epochMillis);
      }
    }
  }

  private static Renewal readRenewal(JsonInput in) {
    ClaimFields fields = new ClaimFields();
    boolean revive = false;
    for (String name = in.object(); name != null; name = in.field()) {
      if (name.equals("revive")) {
        revive = in.bool();
      } else {
        fields.read(in, name);
      }
    }
    return new Renewal(fields.task(), fields.leaseMillis(in), revive);
  }

  private static void writeRenewal(JsonGenerator json, Renewal renewal) {
    json.writeStartObject();
    TaskForm.writeRefFields(json, renewal.task());
    json.writeNumberProperty("lease", renewal.leaseMillis());
    if (renewal.revive()) {
      json.writeBooleanProperty("revive", true);
    }
    json.writeEndObject();
  }

  private static Taking readTaking(JsonInput in) {
    ClaimFields fields = new ClaimFields();
    String local = null;
    for (String name = in.object(); name != null; name = in.field()) {
      if (name.equals("local")) {
        local = in.text();
      } else {
        fields.read(in, name);
      }
    }
    return new Taking(fields.task(), fields.leaseMillis(in), local);
  }

  private static void writeTaking(JsonGenerator json, Taking taking) {
    json.writeStartObject();
    TaskForm.writeRefFields(json, taking.task());
    json.writeNumberProperty("lease", taking.leaseMillis());
    if (taking.localName() != null) {
      json.writeStringProperty("local", taking.localName());
    }
    json.writeEndObject();
  }

  /** The fields that renewals and takings have in common. */
  private static final class ClaimFields {
    private long id;
    private long origin;
    private @Nullable Long lease;

    void read(JsonInput in, String name) {
      switch (name) {
        case "id" -> id = in.integer();
        case "origin" -> origin = in.integer();
        case "lease" -> lease = in.integer();
        default -> throw in.unknown();
      }
    }

    TaskRef task() {
      return new TaskRef(id, origin);
    }

    long leaseMillis(JsonInput in) {
      if (lease == null) {
        throw in.wrong("needs a lease, in milliseconds");
      }
      return lease;
    }
  }
}
