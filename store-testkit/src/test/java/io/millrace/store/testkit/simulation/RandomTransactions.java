package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Draws transactions that mostly concern what is there. Most of them could be done; in the others
 * anything may be wrong, and several things at a time.
 */
final class RandomTransactions {
  /** More bytes than names, and a request id, may have, and no text. */
  static final int NAME_BYTES = 20;

  /** The most bytes of the data of a task. */
  static final int DATA_BYTES = 60;

  private static final List<String> GROUPS = List.of("a", "b", "\u00e4\u00f6");
  private static final List<String> BAD_NAMES =
      List.of("", "twenty-one characters", "\ud800", "\u4e16".repeat(7));
  private static final List<Long> BAD_NUMBERS =
      List.of(-2L, -7L, Long.MIN_VALUE, Limits.LARGEST_NUMBER + 1, Long.MAX_VALUE);
  private static final List<String> TEXTS =
      List.of("{{ }", "id {{n0}}", "{{n1}} and {{n0}}", "}}{{n9}}", "{{n0}}{{}}", "{{n{{n0}}}}");
  private static final List<TaskRef> NAMELESS =
      List.of(new TaskRef(0, 0), new TaskRef(-1, 0), new TaskRef(0, -3), new TaskRef(3, -1));
  private static final List<String> COLLECTIONS = List.of("c", "d");
  private static final List<String> LIMITS =
      List.of("", "running 1", "starts 2 3000", "running 2\nstarts 1 1\n");
  private static final List<String> LIMITS_OF_GROUPS =
      List.of("key-running 1", "key-starts 1 2000\nweight 2 ann", "ageing 100", "shared s");
  private static final List<String> BAD_LIMITS =
      List.of("running", "running -1", "starts 5", "unknown 1", "weight 0 ann", "\u4e16");
  private static final int KEYS = 5;

  private final Random random;
  private final Model model;
  private final List<Transaction> sent = new ArrayList<>();

  /** Whether the transaction being drawn may be wrong. */
  private boolean odd;

  /** The tasks that the transaction being drawn has not named yet, in no order. */
  private List<Task> unnamed = new ArrayList<>();

  private List<DocumentKey> unnamedKeys = new ArrayList<>();

  /** How many good local names it has given. */
  private int localNames;

  RandomTransactions(Random random, Model model) {
    this.random = random;
    this.model = model;
  }

  /** A claim by some client. */
  Claim claim() {
    odd = false;
    return new Claim(
        client(),
        List.of(any(GROUPS)),
        lease(0),
        1 + random.nextInt(4),
        any(List.of(Claim.Order.values())),
        random.nextInt(2) * random.nextInt(8),
        0,
        List.of(),
        null);
  }

  /**
   * A transaction at a store time: a new one, or one that was sent before, or something like it.
   */
  Transaction transaction(long nowMillis) {
    if (!sent.isEmpty() && random.nextInt(8) == 0) {
      return again(any(sent));
    }
    Transaction drawn = draw(nowMillis);
    if (drawn.requestId() != null) {
      sent.add(drawn);
    }
    return drawn;
  }

  private Transaction draw(long now) {
    odd = random.nextInt(3) == 0;
    localNames = 0;
    unnamed = new ArrayList<>(model.tasks());
    Collections.shuffle(unnamed, random);
    unnamedKeys = keys();
    boolean many = unnamed.size() > 30;
    Owner client = clientAt(now);
    Predicate<Task> free = task -> task.stateAt(now) != Task.State.CLAIMED || isOf(client, task);
    Predicate<Task> claimed =
        task -> task.token() != 0 && isOf(client, task) && task.stateAt(now) == Task.State.CLAIMED;
    Predicate<Task> waiting = task -> task.stateAt(now) == Task.State.WAITING;
    return new Transaction(
        client,
        some(many ? 1 : 4, () -> add(now)),
        some(2, free, ref -> new Transaction.Update(ref, maybe(data()), when(now))),
        some(2, claimed, ref -> new Transaction.Renewal(ref, lease(1), random.nextInt(3) == 0)),
        some(2, waiting, ref -> new Transaction.Taking(ref, lease(0), localName())),
        some(many ? 6 : 2, free, ref -> ref),
        some(odd ? 2 : Math.min(2, model.tasks().size()), () -> named(model.tasks())),
        some(2, this::put),
        some(odd ? 1 : Math.min(1, here().size()), () -> document(false)),
        some(odd ? 2 : Math.min(2, here().size()), () -> document(false)),
        requestId(),
        random.nextInt(8) == 0);
  }

  /** The same, or something else under the same request id. */
  private Transaction again(Transaction first) {
    if (random.nextInt(3) > 0) {
      return first;
    }
    int change = random.nextInt(4);
    return new Transaction(
        change == 0 ? client() : first.client(),
        change == 1 ? first.adds().reversed() : first.adds(),
        first.updates(),
        change == 2 ? turned(first.renewals()) : first.renewals(),
        first.takings(),
        first.deletes(),
        first.depends(),
        first.puts(),
        first.documentDeletes(),
        first.documentDepends(),
        first.requestId(),
        (change == 3) ^ first.override());
  }

  private static List<Transaction.Renewal> turned(List<Transaction.Renewal> renewals) {
    return renewals.stream()
        .map(each -> new Transaction.Renewal(each.task(), -each.leaseMillis(), !each.revive()))
        .toList();
  }

  private <T> List<T> some(int most, Supplier<T> part) {
    List<T> parts = new ArrayList<>();
    for (int i = random.nextInt(2) * random.nextInt(most + 1); i > 0; i--) {
      parts.add(part.get());
    }
    return parts;
  }

  private boolean wrong() {
    return odd && random.nextInt(6) == 0;
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private <T> @Nullable T maybe(T thing) {
    return random.nextBoolean() ? thing : null;
  }

  private Owner client() {
    String principal = random.nextInt(4) == 0 ? "p" : Owner.ANYONE;
    return new Owner(principal, wrong() ? any(BAD_NUMBERS) : random.nextInt(3));
  }

  /** Mostly somebody who holds something, so that there is something to do for him. */
  private Owner clientAt(long now) {
    for (Task task : unnamed) {
      Owner owner = task.owner();
      if (owner != null && task.stateAt(now) == Task.State.CLAIMED && !wrong()) {
        return owner;
      }
    }
    return client();
  }

  private Transaction.Add add(long now) {
    String group = wrong() ? any(BAD_NAMES) : any(GROUPS);
    Task.Lane lane = random.nextInt(3) == 0 ? lane() : null;
    return new Transaction.Add(group, data(), when(now), random.nextBoolean(), localName(), lane);
  }

  private Task.Lane lane() {
    String key = wrong() ? any(BAD_NAMES) : any(List.of("", "ann", "bo"));
    return new Task.Lane(key, wrong() ? any(List.of(-1, 10, 1_000)) : random.nextInt(10));
  }

  private String limits(DocumentKey key) {
    if (wrong()) {
      return any(BAD_LIMITS);
    }
    return any(Throttling.isShared(key) || random.nextBoolean() ? LIMITS : LIMITS_OF_GROUPS);
  }

  private static boolean isOf(Owner client, Task task) {
    return client.equals(task.owner());
  }

  /** Parts about tasks of a sort; where nothing is to be wrong, not more than there are. */
  private <T> List<T> some(int most, Predicate<Task> fits, Function<TaskRef, T> part) {
    int fitting = (int) unnamed.stream().filter(fits).count();
    return some(odd ? most : Math.min(most, fitting), () -> part.apply(ref(fits)));
  }

  /** Mostly a task of this sort that the transaction has not named yet. */
  private TaskRef ref(Predicate<Task> fits) {
    List<Task> fitting = unnamed.stream().filter(fits).toList();
    if (fitting.isEmpty() || wrong()) {
      return named(model.tasks());
    }
    unnamed.remove(fitting.getFirst());
    return named(fitting.subList(0, 1));
  }

  /** One of these tasks by id, origin or both; or a stranger. */
  private TaskRef named(List<Task> tasks) {
    if (wrong()) {
      return any(NAMELESS);
    }
    if (tasks.isEmpty() || wrong()) {
      long number = 1 + random.nextLong(model.lastId() + 2);
      return random.nextBoolean() ? TaskRef.id(number) : TaskRef.origin(number);
    }
    Task task = any(tasks);
    return switch (random.nextInt(3)) {
      case 0 -> TaskRef.id(task.id());
      case 1 -> TaskRef.origin(task.origin());
      default -> new TaskRef(task.id(), wrong() ? task.id() : task.origin());
    };
  }

  private Transaction.Put put() {
    DocumentVersion target = document(true);
    if (target.key().collection().startsWith("throttling/")) {
      Bytes limits = Bytes.of(limits(target.key()));
      return new Transaction.Put(target.key(), target.version(), limits, false);
    }
    boolean template = random.nextBoolean();
    Bytes body = template ? Bytes.of(text()) : data();
    return new Transaction.Put(target.key(), target.version(), body, template);
  }

  /** A template with references that are known, mostly. */
  private String text() {
    return odd ? any(TEXTS) : TEXTS.get(random.nextInt(1 + Math.min(localNames, 2)));
  }

  /** A document that was not named yet, mostly, with the version that it has or any. */
  private DocumentVersion document(boolean mayBeAbsent) {
    List<DocumentKey> keys = mayBeAbsent ? unnamedKeys : here();
    DocumentKey key = keys.isEmpty() || wrong() ? key() : any(keys);
    unnamedKeys.remove(key);
    if (wrong()) {
      return new DocumentVersion(key, random.nextBoolean() ? any(BAD_NUMBERS) : model.lastId());
    }
    Document found = model.document(key);
    boolean exact = random.nextBoolean() || (found == null && mayBeAbsent && random.nextBoolean());
    return new DocumentVersion(
        key,
        !exact ? DocumentVersion.ANY : found == null ? DocumentVersion.ABSENT : found.version());
  }

  private List<DocumentKey> here() {
    return unnamedKeys.stream().filter(key -> model.document(key) != null).toList();
  }

  private DocumentKey key() {
    String collection = wrong() ? any(BAD_NAMES) : any(COLLECTIONS);
    return new DocumentKey(collection, wrong() ? any(BAD_NAMES) : "k" + random.nextInt(KEYS));
  }

  private static List<DocumentKey> keys() {
    List<DocumentKey> keys = new ArrayList<>(GROUPS.stream().map(Throttling::ofGroup).toList());
    keys.add(Throttling.ofPrefix("a"));
    keys.add(Throttling.shared("s"));
    for (int i = 0; i < KEYS; i++) {
      for (String collection : COLLECTIONS) {
        keys.add(new DocumentKey(collection, "k" + i));
      }
    }
    return keys;
  }

  private @Nullable String localName() {
    if (random.nextInt(3) == 0) {
      return null;
    }
    return wrong() ? any(BAD_NAMES) : "n" + (wrong() ? 0 : localNames++);
  }

  private Bytes data() {
    byte[] content = new byte[random.nextInt(DATA_BYTES / 2) + (wrong() ? DATA_BYTES : 0)];
    random.nextBytes(content);
    return Bytes.copyOf(content);
  }

  private When when(long now) {
    if (random.nextInt(20) == 0) {
      return new When.At(0);
    }
    long millis = wrong() ? any(BAD_NUMBERS) : random.nextInt(5_000);
    return switch (random.nextInt(3)) {
      case 0 -> When.now();
      case 1 -> new When.At(millis < 0 || millis > 5_000 ? millis : now + millis - 2_500);
      default -> new When.After(millis);
    };
  }

  private long lease(long least) {
    return wrong() ? any(BAD_NUMBERS) : least + random.nextInt(5_000);
  }

  private @Nullable String requestId() {
    if (random.nextInt(4) > 0) {
      return null;
    }
    return wrong() ? any(BAD_NAMES) : "r" + random.nextInt(1_000);
  }
}
