package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Draws commands of several clients: most are valid, some are stale, wrong or repeated. */
final class CommandMix {
  private static final List<String> GROUPS = List.of("map", "reduce", "müll/😀", "d", "d/1");
  private static final List<String> PREFIXES = List.of("d", "d/", "m", "r");
  private static final List<String> COLLECTIONS = List.of("results", "links");
  private static final List<Owner> OWNERS =
      List.of(Owner.client(1), Owner.client(2), new Owner("p", 1), new Owner("p", 7));
  private static final List<Claim.Order> ORDERS =
      List.of(Claim.Order.RANDOM, Claim.Order.OLDEST, Claim.Order.NEWEST);
  private static final int MAX_TASKS = 60;
  private static final int KEYS = 12;
  private static final List<String> KEY_NAMES = List.of("alice", "bob", "", "zoë");
  private static final int NEVER = Integer.MAX_VALUE;

  private final RandomGenerator random;
  private final Model model;
  private final List<Command> repeatable = new ArrayList<>();
  private final int largeOneIn;

  /** On average, one of this many tasks has a key or a priority. */
  private final int laneOneIn;

  private int requestIds;

  CommandMix(RandomGenerator random, Model model) {
    this.random = random;
    this.model = model;
    largeOneIn = random.nextInt(8, 50);
    laneOneIn = random.nextInt(3) == 0 ? NEVER : random.nextInt(1, 8);
  }

  Command next() {
    if (!repeatable.isEmpty() && chance(30)) {
      return repeatable.get(random.nextInt(repeatable.size()));
    }
    Command command = chance(3) ? claim() : transaction();
    if (command.requestId() != null) {
      repeatable.add(command);
      if (repeatable.size() > 8) {
        repeatable.removeFirst();
      }
    }
    return command;
  }

  /** Any of the groups, mostly those in use. */
  String group() {
    return chance(40) ? "unknown" : GROUPS.get(random.nextInt(GROUPS.size()));
  }

  List<String> collections() {
    return COLLECTIONS;
  }

  String collection() {
    return COLLECTIONS.get(random.nextInt(COLLECTIONS.size()));
  }

  DocumentKey documentKey() {
    return new DocumentKey(collection(), "k" + random.nextInt(KEYS));
  }

  /** A reference to a task: by id, origin or both; sometimes to none. */
  TaskRef ref() {
    @Nullable Task task = model.someTask(random.nextLong(1, model.lastId() + 2));
    if (task == null || chance(25)) {
      long unknown = random.nextLong(1, model.lastId() + 20);
      return chance(2) ? TaskRef.id(unknown) : TaskRef.origin(unknown);
    }
    return switch (random.nextInt(4)) {
      case 0 -> TaskRef.origin(task.origin());
      case 1 -> new TaskRef(task.id(), task.origin());
      default -> task.ref();
    };
  }

  private boolean chance(int oneIn) {
    return random.nextInt(oneIn) == 0;
  }

  private Owner owner() {
    return OWNERS.get(random.nextInt(OWNERS.size()));
  }

  private @Nullable String requestId() {
    if (!chance(8)) {
      return null;
    }
    // Mostly new; sometimes one that is in use, perhaps with other content.
    return "r" + (chance(10) ? random.nextInt(requestIds + 1) : ++requestIds);
  }

  private Claim claim() {
    List<String> groups = new ArrayList<>(List.of(group()));
    while (chance(3)) {
      String further = group();
      if (!groups.contains(further)) {
        groups.add(further);
      }
    }
    Claim.Order order = ORDERS.get(random.nextInt(ORDERS.size()));
    return Claim.of(owner(), groups.getFirst(), Duration.ofMillis(random.nextLong(0, 60_000)))
        .withGroups(groups)
        .withOrder(order)
        .withCount(chance(3) ? random.nextInt(1, 6) : 1)
        .withLimit(chance(3) ? random.nextInt(1, 8) : 0)
        .withWait(Duration.ofMillis(chance(4) ? random.nextLong(1, 30_000) : 0))
        .withDepends(chance(10) ? List.of(ref()) : List.of())
        .withRequestId(requestId());
  }

  private Transaction transaction() {
    Transaction.Builder builder = Transaction.by(owner());
    int parts = chance(10) ? random.nextInt(1, 15) : random.nextInt(1, 4);
    List<String> names = new ArrayList<>();
    int adds = 0;
    int takings = 0;
    for (int i = 0; i < parts; i++) {
      switch (random.nextInt(13)) {
        case 0, 1, 2, 3 -> {
          if (model.size() < MAX_TASKS) {
            names.add("t" + adds);
            builder.add(add(adds++));
          } else {
            builder.delete(ref());
          }
        }
        case 4, 5 -> builder.update(ref(), chance(2) ? data() : null, when());
        case 6 -> {
          Duration lease = Duration.ofMillis(random.nextLong(1, 60_000));
          if (random.nextInt(4) == 0) {
            builder.revive(ref(), lease);
          } else {
            builder.renew(ref(), lease);
          }
        }
        case 7, 8 -> builder.delete(chance(60) ? new TaskRef(0, 0) : ref());
        case 9 -> builder.depend(ref());
        case 10 -> {
          names.add("k" + takings);
          long lease = random.nextLong(0, 60_000);
          builder.take(new Transaction.Taking(ref(), lease, "k" + takings++));
        }
        default -> {
          if (laneOneIn < NEVER && chance(5)) {
            limits(builder);
          } else {
            document(builder, names);
          }
        }
      }
    }
    Owner client = builder.build().client();
    if (isEmpty(builder.build())) {
      builder.add("map", "x" + client.client());
    }
    return builder.requestId(requestId()).override(chance(12)).build();
  }

  private static boolean isEmpty(Transaction transaction) {
    return transaction.equals(Transaction.by(transaction.client()).build());
  }

  private void document(Transaction.Builder builder, List<String> names) {
    DocumentKey key = documentKey();
    @Nullable Document found = model.document(key);
    long version =
        switch (random.nextInt(4)) {
          case 0 -> DocumentVersion.ANY;
          case 1 -> DocumentVersion.ABSENT;
          default -> found == null ? DocumentVersion.ABSENT : found.version();
        };
    switch (random.nextInt(4)) {
      case 0 -> {
        if (version != DocumentVersion.ABSENT) {
          builder.delete(key, version);
        }
      }
      case 1 -> builder.depend(key, version);
      default -> {
        boolean template = !names.isEmpty() && chance(2);
        Bytes body =
            template
                ? Bytes.of("task {{" + names.get(random.nextInt(names.size())) + "}} is mine")
                : data();
        builder.put(new Transaction.Put(key, version, body, template));
      }
    }
  }

  private Transaction.Add add(int index) {
    return new Transaction.Add(group(), data(), when(), chance(2), "t" + index, lane());
  }

  /** Most tasks of most runs have no lane; of the others, a few have the highest priority. */
  private Task.@Nullable Lane lane() {
    if (!chance(laneOneIn)) {
      return null;
    }
    int priority = chance(2) ? 0 : chance(4) ? Task.Lane.MAX_PRIORITY : random.nextInt(4);
    return Task.Lane.of(KEY_NAMES.get(random.nextInt(KEY_NAMES.size())), priority);
  }

  private static Limit limit(RandomGenerator random) {
    int starts = random.nextInt(4);
    return new Limit(random.nextInt(4), starts, starts == 0 ? 0 : random.nextLong(1, 30_000));
  }

  /** Sets or removes limits of a group or of groups with a prefix, or a shared limit. */
  private void limits(Transaction.Builder builder) {
    String name = random.nextBoolean() ? "disk" : "gpu";
    if (chance(3)) {
      builder.put(
          Throttling.shared(name), DocumentVersion.ANY, Throttling.ofAll(limit(random)).body());
      return;
    }
    DocumentKey key =
        chance(2)
            ? Throttling.ofGroup(group())
            : Throttling.ofPrefix(PREFIXES.get(random.nextInt(PREFIXES.size())));
    if (chance(3) && model.document(key) != null) {
      builder.delete(key, DocumentVersion.ANY);
      return;
    }
    Throttling limits =
        new Throttling(
            chance(2) ? limit(random) : Limit.NONE,
            chance(2) ? limit(random) : Limit.NONE,
            chance(2) ? Throttling.AGEING_MILLIS : random.nextInt(10_000),
            chance(2) ? Map.of() : Map.of(KEY_NAMES.getFirst(), random.nextInt(1, 4)),
            chance(2) ? List.of() : List.of(name));
    builder.put(key, DocumentVersion.ANY, limits.body());
  }

  private When when() {
    return switch (random.nextInt(6)) {
      case 0 -> When.after(Duration.ofMillis(random.nextLong(0, 60_000)));
      case 1 -> new When.At(Math.max(0, model.timeMillis() + random.nextLong(-60_000, 60_000)));
      default -> When.now();
    };
  }

  private Bytes data() {
    int size =
        switch (random.nextInt(largeOneIn)) {
          case 0 -> random.nextInt(20_000);
          case 1, 2, 3, 4 -> random.nextInt(1500);
          case 5, 6 -> 0;
          default -> random.nextInt(40);
        };
    byte[] bytes = new byte[size];
    random.nextBytes(bytes);
    return Bytes.copyOf(bytes);
  }
}
