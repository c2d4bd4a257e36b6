package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.Renewal;
import io.millrace.store.Transaction.Taking;
import io.millrace.store.Transaction.Update;
import io.millrace.store.Transaction.When;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Values of every kind, drawn from one seed. */
final class Samples {
  static final long LARGEST = (1L << 53) - 1;

  private final Random random;

  Samples(long seed) {
    random = new Random(seed);
  }

  <T> List<T> list(Supplier<T> element) {
    List<T> list = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      list.add(element.get());
    }
    return list;
  }

  <T> T oneOf(T[] values) {
    return values[random.nextInt(values.length)];
  }

  boolean coin() {
    return random.nextBoolean();
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  long number() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(100);
      case 1 -> random.nextInt(Integer.MAX_VALUE);
      case 2 -> LARGEST - random.nextInt(10);
      default -> random.nextLong(LARGEST);
    };
  }

  long id() {
    return 1 + random.nextLong(LARGEST);
  }

  String name() {
    StringBuilder name = new StringBuilder("n");
    for (int i = random.nextInt(6); i > 0; i--) {
      name.appendCodePoint(
          switch (random.nextInt(8)) {
            case 0 -> '"';
            case 1 -> '\\';
            case 2 -> random.nextInt(32);
            case 3 -> '/';
            case 4 -> 0x1F600 + random.nextInt(64);
            case 5 -> 0x2028;
            case 6 -> 0xFFFD;
            default -> 'a' + random.nextInt(26);
          });
    }
    return name.toString();
  }

  Bytes data() {
    return switch (random.nextInt(4)) {
      case 0 -> Bytes.EMPTY;
      case 1 -> Bytes.of(name());
      case 2 -> Bytes.of("/path/to/file:" + number());
      default -> {
        byte[] noise = new byte[random.nextInt(40)];
        random.nextBytes(noise);
        yield Bytes.copyOf(noise);
      }
    };
  }

  When when() {
    return switch (random.nextInt(3)) {
      case 0 -> When.now();
      case 1 -> new When.At(number());
      default -> new When.After(1 + number());
    };
  }

  TaskRef ref() {
    return switch (random.nextInt(3)) {
      case 0 -> TaskRef.id(id());
      case 1 -> TaskRef.origin(id());
      default -> new TaskRef(id(), id());
    };
  }

  DocumentKey key() {
    return new DocumentKey(name(), name());
  }

  long version() {
    return coin() ? number() : DocumentVersion.ANY;
  }

  Owner owner(String principal) {
    return new Owner(principal, number());
  }

  Task task() {
    Owner owner =
        switch (random.nextInt(3)) {
          case 0 -> null;
          case 1 -> owner(Owner.ANYONE);
          default -> owner(name());
        };
    int claims = random.nextInt(1000);
    return new Task(id(), id(), name(), number(), owner, number(), claims, data(), lane());
  }

  GroupSummary summary() {
    return new GroupSummary(name(), number(), number(), number(), number());
  }

  Document document() {
    return new Document(key(), id(), data());
  }

  Transaction transaction(String principal) {
    return new Transaction(
        owner(principal),
        list(this::add),
        list(() -> new Update(ref(), coin() ? data() : null, when())),
        list(() -> new Renewal(ref(), number(), coin())),
        list(() -> new Taking(ref(), number(), coin() ? name() : null)),
        list(this::ref),
        list(this::ref),
        list(() -> new Put(key(), version(), data(), coin())),
        list(() -> new DocumentVersion(key(), version())),
        list(() -> new DocumentVersion(key(), version())),
        coin() ? name() : null,
        coin());
  }

  private Add add() {
    When when = when();
    boolean owned = !(when instanceof When.Now) && coin();
    return new Add(name(), data(), when, owned, coin() ? name() : null, lane());
  }

  private Task.@Nullable Lane lane() {
    return Task.Lane.of(coin() ? name() : "", coin() ? random.nextInt(10) : 0);
  }

  Claim claim(String principal) {
    List<String> groups = list(this::name);
    return new Claim(
        owner(principal),
        groups,
        number(),
        random.nextInt(1000),
        oneOf(Claim.Order.values()),
        random.nextInt(5),
        coin() ? number() : 0,
        list(this::ref),
        coin() ? name() : null);
  }

  Position position() {
    return new Position(random.nextLong(), number());
  }

  Outcome outcome() {
    if (coin()) {
      return new Outcome.Done(position(), number(), list(this::task), list(this::document), coin());
    }
    List<Reason> reasons = new ArrayList<>(list(this::reason));
    reasons.add(reason());
    return new Outcome.Refused(position(), number(), reasons);
  }

  private Reason reason() {
    Reason.Kind kind = oneOf(Reason.Kind.values());
    return new Reason(kind, coin() ? ref() : null, coin() ? key() : null, name());
  }

  Commit commit() {
    return new Commit(
        position(), number(), owner(coin() ? "" : name()), coin(), list(this::change));
  }

  private Change change() {
    return switch (random.nextInt(5)) {
      case 0 -> new Change.Added(task());
      case 1 -> new Change.Changed(id(), task(), coin());
      case 2 -> new Change.Deleted(id(), id(), name());
      case 3 -> new Change.DocumentPut(number(), document());
      default -> new Change.DocumentDeleted(key(), number());
    };
  }
}
