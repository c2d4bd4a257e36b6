package io.millrace.store.kernel.records;

import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Task;
import io.millrace.store.kernel.records.JournalRecord.KeptStarts.Scope;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes and reads {@link JournalRecord}s, version 1; see docs/journal-format.md. */
public final class Records {
  private static final int COMMITTED = 1;
  private static final int OPENED = 2;
  private static final int CLOSED = 3;
  private static final int PART = 4;
  private static final int COUNTERS = 16;
  private static final int KEPT_TASK = 17;
  private static final int KEPT_DOCUMENT = 18;
  private static final int KEPT_REQUEST = 19;
  private static final int KEPT_STARTS = 20;
  private static final int KEPT_TASK_IN_LANE = 21;

  private static final int ADDED = 1;
  private static final int CHANGED = 2;
  private static final int CHANGED_KEEPING_DATA = 3;
  private static final int DELETED = 4;
  private static final int DOCUMENT_PUT = 5;
  private static final int DOCUMENT_DELETED = 6;

  /** Added to the type of a change whose task has a lane, which earlier versions refuse. */
  private static final int IN_LANE = 16;

  private static final int OVERRIDE = 1;
  private static final int REQUEST = 2;

  private static final int OWNED = 1;
  private static final int CLAIMED = 2;

  /** The size in bytes of the smallest branch: a long and a number. */
  private static final int SMALLEST_BRANCH = 9;

  /**
   * The size in bytes of the smallest change: a deletion with type, id, origin and an empty name.
   */
  private static final int SMALLEST_CHANGE = 4;

  private Records() {}

  /** Appends a record. */
  public static void write(RecordWriter out, JournalRecord journalRecord) {
    switch (journalRecord) {
      case JournalRecord.Committed(Event event) -> {
        out.writeByte(COMMITTED);
        writeEvent(out, event, false);
      }
      case JournalRecord.Opened(long epoch, Journaling journaling, History history) -> {
        out.writeByte(OPENED);
        out.writeNumber(epoch);
        out.writeByte(journaling == Journaling.STRICT ? 0 : 1);
        writeHistory(out, history);
      }
      case JournalRecord.Closed() -> out.writeByte(CLOSED);
      case JournalRecord.Part(long index, long count, Bytes bytes) -> {
        out.writeByte(PART);
        out.writeNumber(index);
        out.writeNumber(count);
        out.writeBytes(bytes);
      }
      case JournalRecord.Counters counters -> {
        out.writeByte(COUNTERS);
        out.writeNumber(counters.lastId());
        out.writeNumber(counters.commits());
        out.writeNumber(counters.timeMillis());
        out.writeByte(counters.forks() ? 1 : 0);
        writeHistory(out, counters.history());
      }
      case JournalRecord.KeptTask(Task task) -> {
        out.writeByte(task.lane() == null ? KEPT_TASK : KEPT_TASK_IN_LANE);
        writeTask(out, task, true);
      }
      case JournalRecord.KeptDocument(Document document) -> {
        out.writeByte(KEPT_DOCUMENT);
        writeDocument(out, document);
      }
      case JournalRecord.KeptRequest(Event event) -> {
        out.writeByte(KEPT_REQUEST);
        writeEvent(out, event, true);
      }
      case JournalRecord.KeptStarts starts -> {
        out.writeByte(KEPT_STARTS);
        out.writeByte(number(starts.scope()));
        out.writeText(starts.name());
        out.writeText(starts.key());
        out.writeNumber(starts.fullAtMicros());
      }
    }
  }

  /** Whether a payload is a part of a divided group, which is its only record. */
  static boolean isPart(ByteBuffer payload) {
    return payload.hasRemaining() && payload.get(payload.position()) == PART;
  }

  /**
   * Reads the next record.
   *
   * @throws RecordException if it is malformed
   */
  public static JournalRecord read(RecordReader in) {
    int type = in.readByte();
    return switch (type) {
      case COMMITTED -> new JournalRecord.Committed(readEvent(in));
      case OPENED ->
          new JournalRecord.Opened(
              in.readNumber(),
              in.readByte() == 0 ? Journaling.STRICT : Journaling.OPPORTUNISTIC,
              readHistory(in));
      case CLOSED -> new JournalRecord.Closed();
      case PART -> new JournalRecord.Part(in.readNumber(), in.readNumber(), in.readBytes());
      case COUNTERS ->
          new JournalRecord.Counters(
              in.readNumber(),
              in.readNumber(),
              in.readNumber(),
              in.readByte() != 0,
              readHistory(in));
      case KEPT_TASK -> new JournalRecord.KeptTask(readTask(in, true, false));
      case KEPT_TASK_IN_LANE -> new JournalRecord.KeptTask(readTask(in, true, true));
      case KEPT_DOCUMENT -> new JournalRecord.KeptDocument(readDocument(in));
      case KEPT_REQUEST -> new JournalRecord.KeptRequest(readEvent(in));
      case KEPT_STARTS ->
          new JournalRecord.KeptStarts(
              scope(in.readByte()), in.readText(), in.readText(), in.readNumber());
      default -> throw new RecordException("unknown type " + type);
    };
  }

  private static int number(Scope scope) {
    return switch (scope) {
      case GROUP -> 0;
      case KEY -> 1;
      case SHARED -> 2;
      case PREFIX -> 3;
      case PREFIX_KEY -> 4;
    };
  }

  private static Scope scope(int number) {
    return switch (number) {
      case 0 -> Scope.GROUP;
      case 1 -> Scope.KEY;
      case 2 -> Scope.SHARED;
      case 3 -> Scope.PREFIX;
      case 4 -> Scope.PREFIX_KEY;
      default -> throw new RecordException("unknown scope " + number + " of a limit");
    };
  }

  private static void writeHistory(RecordWriter out, History history) {
    out.writeNumber(history.branches().size());
    for (History.Branch branch : history.branches()) {
      out.writeLong(branch.id());
      out.writeNumber(branch.after());
    }
  }

  private static History readHistory(RecordReader in) {
    int count = in.readCount(SMALLEST_BRANCH);
    if (count == 0) {
      throw new RecordException("a history without a branch");
    }
    List<History.Branch> branches = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      branches.add(new History.Branch(in.readLong(), in.readNumber()));
    }
    return new History(branches);
  }

  /** Writes a commit. A snapshot repeats data that was kept, because it has no earlier records. */
  private static void writeEvent(RecordWriter out, Event event, boolean withAllData) {
    RequestDigest request = event.request();
    out.writeByte((event.override() ? OVERRIDE : 0) | (request == null ? 0 : REQUEST));
    out.writeNumber(event.number());
    out.writeNumber(event.timeMillis());
    writeOwner(out, event.client());
    if (request != null) {
      out.writeText(request.id());
      out.writeLong(request.high());
      out.writeLong(request.low());
    }
    out.writeNumber(event.changes().size());
    for (Change change : event.changes()) {
      writeChange(out, change, withAllData);
    }
  }

  private static Event readEvent(RecordReader in) {
    int flags = in.readByte();
    long number = in.readNumber();
    long timeMillis = in.readNumber();
    Owner client = readOwner(in);
    @Nullable RequestDigest request = null;
    if ((flags & REQUEST) != 0) {
      request = new RequestDigest(in.readText(), in.readLong(), in.readLong());
    }
    int count = in.readCount(SMALLEST_CHANGE);
    List<Change> changes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      changes.add(readChange(in));
    }
    return new Event(number, timeMillis, client, (flags & OVERRIDE) != 0, changes, request);
  }

  private static void writeChange(RecordWriter out, Change change, boolean withAllData) {
    switch (change) {
      case Change.Added(Task task) -> {
        out.writeByte(ADDED + inLane(task));
        writeTask(out, task, true);
      }
      case Change.Changed(long oldId, Task task, boolean dataKept) -> {
        boolean withData = withAllData || !dataKept;
        out.writeByte((withData ? CHANGED : CHANGED_KEEPING_DATA) + inLane(task));
        out.writeNumber(oldId);
        writeTask(out, task, withData);
      }
      case Change.Deleted(long id, long origin, String group) -> {
        out.writeByte(DELETED);
        out.writeNumber(id);
        out.writeNumber(origin);
        out.writeText(group);
      }
      case Change.DocumentPut(long oldVersion, Document document) -> {
        out.writeByte(DOCUMENT_PUT);
        out.writeNumber(oldVersion);
        writeDocument(out, document);
      }
      case Change.DocumentDeleted(DocumentKey key, long oldVersion) -> {
        out.writeByte(DOCUMENT_DELETED);
        out.writeText(key.collection());
        out.writeText(key.key());
        out.writeNumber(oldVersion);
      }
    }
  }

  private static Change readChange(RecordReader in) {
    int type = in.readByte();
    boolean inLane = type > IN_LANE && type <= IN_LANE + CHANGED_KEEPING_DATA;
    return switch (inLane ? type - IN_LANE : type) {
      case ADDED -> new Change.Added(readTask(in, true, inLane));
      case CHANGED -> new Change.Changed(in.readNumber(), readTask(in, true, inLane), false);
      case CHANGED_KEEPING_DATA ->
          new Change.Changed(in.readNumber(), readTask(in, false, inLane), true);
      case DELETED -> new Change.Deleted(in.readNumber(), in.readNumber(), in.readText());
      case DOCUMENT_PUT -> new Change.DocumentPut(in.readNumber(), readDocument(in));
      case DOCUMENT_DELETED ->
          new Change.DocumentDeleted(
              new DocumentKey(in.readText(), in.readText()), in.readNumber());
      default -> throw new RecordException("unknown change " + type);
    };
  }

  private static void writeTask(RecordWriter out, Task task, boolean withData) {
    Owner owner = task.owner();
    Task.Lane lane = task.lane();
    out.writeByte((owner == null ? 0 : OWNED) | (task.heldByClaim() ? CLAIMED : 0));
    out.writeNumber(task.id());
    out.writeNumber(task.origin());
    out.writeText(task.group());
    out.writeNumber(task.availableAtMillis());
    if (owner != null) {
      writeOwner(out, owner);
    }
    if (task.heldByClaim()) {
      out.writeNumber(task.token());
    }
    out.writeNumber(task.claims());
    if (lane != null) {
      out.writeText(lane.key());
      out.writeByte(lane.priority());
    }
    if (withData) {
      out.writeBytes(task.data());
    }
  }

  private static int inLane(Task task) {
    return task.lane() == null ? 0 : IN_LANE;
  }

  private static Task readTask(RecordReader in, boolean withData, boolean withLane) {
    int flags = in.readByte();
    long id = in.readNumber();
    long origin = in.readNumber();
    String group = in.readText();
    long availableAtMillis = in.readNumber();
    Owner owner = (flags & OWNED) == 0 ? null : readOwner(in);
    long token = (flags & CLAIMED) == 0 ? 0 : in.readNumber();
    int claims = in.readInt();
    Task.Lane lane = withLane ? readLane(in) : null;
    Bytes data = withData ? in.readBytes() : Bytes.EMPTY;
    return new Task(id, origin, group, availableAtMillis, owner, token, claims, data, lane);
  }

  private static Task.Lane readLane(RecordReader in) {
    Task.Lane lane = new Task.Lane(in.readText(), in.readByte());
    if (lane.priority() < 0 || lane.priority() > Task.Lane.MAX_PRIORITY) {
      throw new RecordException("a task with priority " + lane.priority());
    }
    return lane;
  }

  private static void writeOwner(RecordWriter out, Owner owner) {
    out.writeText(owner.principal());
    out.writeNumber(owner.client());
  }

  private static Owner readOwner(RecordReader in) {
    return new Owner(in.readText(), in.readNumber());
  }

  private static void writeDocument(RecordWriter out, Document document) {
    out.writeText(document.key().collection());
    out.writeText(document.key().key());
    out.writeNumber(document.version());
    out.writeBytes(document.body());
  }

  private static Document readDocument(RecordReader in) {
    return new Document(
        new DocumentKey(in.readText(), in.readText()), in.readNumber(), in.readBytes());
  }
}
