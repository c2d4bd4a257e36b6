package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.Renewal;
import io.millrace.store.Transaction.Taking;
import io.millrace.store.Transaction.Update;
import io.millrace.store.When;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The body of an update request. */
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
    in.object();
    for (String name = in.field(); name != null; name = in.field()) {
      switch (name) {
        case "clientid" -> client = ClientIds.read(in);
        case "adds" -> adds = readAdds(in);
        case "updates" -> updates = readUpdates(in);
        case "renewals" -> renewals = ClaimedForm.readRenewals(in);
        case "takings" -> takings = ClaimedForm.readTakings(in);
        case "deletes" -> deletes = TaskForm.readRefs(in);
        case "depends" -> depends = TaskForm.readRefs(in);
        case "puts" -> puts = DocumentForm.readPuts(in);
        case "documentdeletes" -> documentDeletes = DocumentForm.readVersions(in);
        case "documentdepends" -> documentDepends = DocumentForm.readVersions(in);
        case "requestid" -> requestId = in.text();
        case "override" -> override = in.truth();
        default -> throw in.unknown();
      }
    }
    if (client < 0) {
      throw in.lacking("needs a clientid, a whole number");
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
    json.writeNumberProperty("clientid", ClientIds.shown(transaction.client().client()));
    writeAdds(json, transaction.adds());
    writeUpdates(json, transaction.updates());
    ClaimedForm.writeRenewals(json, transaction.renewals());
    ClaimedForm.writeTakings(json, transaction.takings());
    TaskForm.writeRefs(json, "deletes", transaction.deletes());
    TaskForm.writeRefs(json, "depends", transaction.depends());
    DocumentForm.writePuts(json, transaction.puts());
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

  private static List<Add> readAdds(JsonInput in) {
    List<Add> adds = new ArrayList<>();
    in.array();
    while (in.element()) {
      adds.add(readAdd(in));
    }
    return adds;
  }

  private static Add readAdd(JsonInput in) {
    String group = null;
    Bytes data = null;
    When when = null;
    boolean owned = true;
    String local = null;
    in.object();
    for (String name = in.field(); name != null; name = in.field()) {
      switch (name) {
        case "group" -> group = in.text();
        case "data" -> data = only(in, data, in.bytes());
        case "data64" -> data = only(in, data, in.base64());
        case "timespec", "duration" -> when = readWhen(in, when);
        case "owned" -> owned = in.truth();
        case "local" -> local = in.text();
        default -> skipAnswered(in, name);
      }
    }
    // The store refuses a missing group, so that it is named together with all else that is wrong.
    return new Add(
        group == null ? "" : group,
        data == null ? Bytes.EMPTY : data,
        when == null ? When.now() : when,
        owned && when != null && !(when instanceof When.Now),
        local);
  }

  private static void writeAdds(JsonGenerator json, List<Add> adds) {
    if (adds.isEmpty()) {
      return;
    }
    json.writeArrayPropertyStart("adds");
    for (Add add : adds) {
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
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static List<Update> readUpdates(JsonInput in) {
    List<Update> updates = new ArrayList<>();
    in.array();
    while (in.element()) {
      updates.add(readUpdate(in));
    }
    return updates;
  }

  private static Update readUpdate(JsonInput in) {
    long id = 0;
    long origin = 0;
    Bytes data = null;
    boolean keep = false;
    When when = null;
    in.object();
    for (String name = in.field(); name != null; name = in.field()) {
      switch (name) {
        case "id" -> id = TaskForm.id(in);
        case "origin" -> origin = TaskForm.id(in);
        case "data" -> data = only(in, data, in.bytes());
        case "data64" -> data = only(in, data, in.base64());
        case "keep" -> keep = in.truth();
        case "timespec", "duration" -> when = readWhen(in, when);
        case "group" -> in.skip();
        default -> skipAnswered(in, name);
      }
    }
    if (keep && data != null) {
      throw in.lacking("has both new data and keep");
    }
    if (data == null && !keep) {
      data = Bytes.EMPTY;
    }
    return new Update(new TaskRef(id, origin), data, when == null ? When.now() : when);
  }

  private static void writeUpdates(JsonGenerator json, List<Update> updates) {
    if (updates.isEmpty()) {
      return;
    }
    json.writeArrayPropertyStart("updates");
    for (Update update : updates) {
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
    json.writeEndArray();
  }

  /** What an old client sends along because an answer had it; it says nothing here. */
  private static void skipAnswered(JsonInput in, String name) {
    switch (name) {
      case "id", "ownerid", "origin", "principal", "token", "claims", "state" -> in.skip();
      default -> throw in.unknown();
    }
  }

  private static Bytes only(JsonInput in, @Nullable Bytes before, Bytes data) {
    if (before != null) {
      throw in.wrong("comes beside other data: give data or data64");
    }
    return data;
  }

  /**
   * Reads a time: below 0 after the present, above 0 since the epoch, 0 the present.
   *
   * @param before what the field read before this one said; null for none. The original's Go client
   *     calls the field {@code duration}, so it has two names, of which a request gives one
   */
  private static When readWhen(JsonInput in, @Nullable When before) {
    if (before != null) {
      throw in.wrong("comes beside another time: give timespec or, as its old name, duration");
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
}
