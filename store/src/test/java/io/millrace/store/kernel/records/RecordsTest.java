package io.millrace.store.kernel.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.kernel.records.JournalRecord.KeptStarts;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Records as bytes and back. */
class RecordsTest {
  private static final String LETTERS = "abc \u00e4\u4e16\ud83d\ude00";

  private final SplittableRandom random = new SplittableRandom(2026);

  private long number() {
    return random.nextLong(Limits.LARGEST_NUMBER + 1) >>> random.nextInt(53);
  }

  private String text() {
    return LETTERS.substring(0, random.nextInt(7)).repeat(random.nextInt(20));
  }

  private Bytes bytes() {
    byte[] content = new byte[random.nextInt(4) == 0 ? random.nextInt(5_000) : random.nextInt(9)];
    random.nextBytes(content);
    return Bytes.copyOf(content);
  }

  private <T> List<T> some(Supplier<T> one) {
    List<T> list = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      list.add(one.get());
    }
    return list;
  }

  private Owner owner() {
    return new Owner(text(), number());
  }

  private Task task(Bytes data) {
    return new Task(
        number(),
        number(),
        text(),
        number(),
        random.nextBoolean() ? owner() : null,
        random.nextBoolean() ? number() : 0,
        random.nextInt(Integer.MAX_VALUE),
        data,
        random.nextBoolean() ? null : new Task.Lane(text(), random.nextInt(10)));
  }

  private Document document() {
    return new Document(new DocumentKey(text(), text()), number(), bytes());
  }

  private Change change(boolean mayKeepData) {
    return switch (random.nextInt(mayKeepData ? 6 : 5)) {
      case 0 -> new Change.Added(task(bytes()));
      case 1 -> new Change.Changed(number(), task(bytes()), false);
      case 2 -> new Change.Deleted(number(), number(), text());
      case 3 -> new Change.DocumentPut(number(), document());
      case 4 -> new Change.DocumentDeleted(new DocumentKey(text(), text()), number());
      default -> new Change.Changed(number(), task(Bytes.EMPTY), true);
    };
  }

  private Event event(boolean mayKeepData) {
    return new Event(
        number(),
        number(),
        owner(),
        random.nextBoolean(),
        some(() -> change(mayKeepData)),
        random.nextBoolean()
            ? new RequestDigest(text(), random.nextLong(), random.nextLong())
            : null);
  }

  private History history() {
    History history = History.begin(random.nextLong());
    for (int i = random.nextInt(4); i > 0; i--) {
      history = history.fork(random.nextLong(), number());
    }
    return history;
  }

  private JournalRecord next() {
    return switch (random.nextInt(8)) {
      case 0 -> new JournalRecord.Committed(event(true));
      case 1 ->
          new JournalRecord.Opened(
              number(),
              random.nextBoolean() ? Journaling.STRICT : Journaling.OPPORTUNISTIC,
              history());
      case 2 -> new JournalRecord.Closed();
      case 3 ->
          new JournalRecord.Counters(number(), number(), number(), random.nextBoolean(), history());
      case 4 -> new JournalRecord.KeptTask(task(bytes()));
      case 5 -> new JournalRecord.KeptDocument(document());
      case 6 ->
          new JournalRecord.KeptStarts(
              List.of(KeptStarts.Scope.values()).get(random.nextInt(5)), text(), text(), number());
      default -> new JournalRecord.KeptRequest(event(false));
    };
  }

  @Test
  void every_record_is_read_as_it_was_written() {
    for (int round = 0; round < 500; round++) {
      List<JournalRecord> records = some(this::next);
      RecordWriter out = new RecordWriter();
      records.forEach(each -> Records.write(out, each));
      assertThat(read(out.view())).as("round %s", round).isEqualTo(records);
    }
  }

  @Test
  void damaged_records_are_refused_as_such() {
    for (int round = 0; round < 20_000; round++) {
      RecordWriter out = new RecordWriter();
      Records.write(out, next());
      byte[] bytes = new byte[out.size()];
      out.view().get(bytes);
      for (int i = random.nextInt(4); i >= 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      readWhatever(ByteBuffer.wrap(bytes, 0, 1 + random.nextInt(bytes.length)), round);
    }
  }

  @Test
  void any_bytes_are_read_or_refused() {
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = bytes().toArray();
      if (bytes.length > 0 && random.nextBoolean()) {
        bytes[0] = (byte) (random.nextBoolean() ? 1 + random.nextInt(3) : 16 + random.nextInt(6));
      }
      readWhatever(ByteBuffer.wrap(bytes), round);
    }
  }

  @Test
  void a_damaged_count_reserves_no_more_than_the_payload_is_large() {
    for (int round = 0; round < 400; round++) {
      RecordWriter out = new RecordWriter();
      if (random.nextBoolean()) {
        Records.write(
            out,
            new JournalRecord.Committed(new Event(1, 1, Owner.client(1), false, List.of(), null)));
      } else {
        Records.write(
            out, new JournalRecord.Opened(1, Journaling.STRICT, History.begin(random.nextLong())));
      }
      byte[] payload = new byte[1 << random.nextInt(10, 21)];
      random.nextBytes(payload);
      // The count is the last number of the one, and stands nine bytes before the end of the other.
      int head = out.size() - (out.view().get(0) == 1 ? 1 : 10);
      out.view().get(payload, 0, head);
      RecordWriter count = new RecordWriter();
      count.writeNumber(
          random.nextBoolean() ? random.nextInt(payload.length) : random.nextLong() >>> 1);
      count.view().get(payload, head, count.size());
      long before = allocatedBytes();
      readWhatever(ByteBuffer.wrap(payload), round);
      assertThat(allocatedBytes() - before)
          .as("round %s", round)
          .isLessThan(2L * payload.length + 200_000);
    }
  }

  /** By this thread so far. */
  private static long allocatedBytes() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  private static void readWhatever(ByteBuffer bytes, int round) {
    try {
      read(bytes);
    } catch (RecordException _) {
      // A clean refusal.
    } catch (RuntimeException e) {
      fail("round " + round, e);
    }
  }

  private static List<JournalRecord> read(ByteBuffer bytes) {
    RecordReader in = new RecordReader(bytes);
    List<JournalRecord> records = new ArrayList<>();
    while (!in.atEnd()) {
      records.add(Records.read(in));
    }
    return records;
  }
}
