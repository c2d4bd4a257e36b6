package io.millrace.server.shards;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.StandbyStore;
import io.millrace.store.StandbyStore.TooStaleException;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.wire.Placement;
import io.millrace.wire.Placement.ShardsDifferException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Gatherers;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The shards of a store as one, at a server that leads some of them and follows the others.
 * Commands and subscriptions are for the leader of their shard: if that is another server, they
 * throw {@link ElsewhereException}. Reads are answered here, as of a moment after their call: of a
 * shard that another server leads, by reading its journal to the end first. Thread-safe.
 */
public final class ShardedStore implements TaskStore {
  /** How long a read waits until a journal has been read. */
  private static final Duration LONGEST_READ = Duration.ofSeconds(5);

  /** What a read that has just been refreshed accepts; the refreshment says how old it is. */
  private static final Duration ANY_AGE = Duration.ofMinutes(1);

  /** The position of a read of several shards, which no store has. */
  public static final Position OF_SEVERAL = new Position(0, 0);

  private final Placement placement;
  private final List<? extends Shard> shards;
  private final List<TaskStore> stores;

  /** A shard, as this server has it. Thread-safe. */
  public interface Shard {
    /** Its store; null if this server does not lead it. */
    @Nullable EmbeddedTaskStore led();

    /** Follows it; null if this server leads it, or has not begun to follow. */
    @Nullable StandbyStore following();

    /** The address of its leader; null if that is this server, nobody, or not known. */
    @Nullable String leader();

    /**
     * Ends this server's lead soon, and leaves it to another server for a while.
     *
     * @param to the address of that server, for the log
     * @return whether this server leads
     */
    boolean handOver(String to);
  }

  /** Another server leads the shard, or none does at the moment. Nothing was done. */
  public static final class ElsewhereException extends StoreException {
    private static final long serialVersionUID = 1;

    private final @Nullable String leader;
    private final String place;

    ElsewhereException(int shard, int shards, @Nullable String leader) {
      super(
          leader == null
              ? "no server leads shard " + shard + " yet"
              : "the leader of shard " + shard + " is at " + leader);
      this.leader = leader;
      this.place = shard + "/" + shards;
    }

    /** The number of the shard, a slash, and the number of shards. */
    public String place() {
      return place;
    }

    /** The address of the leader; null if there is none at the moment. */
    public @Nullable String leader() {
      return leader;
    }
  }

  /** There is no shard of this number. */
  public static final class NoSuchShardException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    NoSuchShardException(long number, int shards) {
      super("shards are numbered from 0 to " + (shards - 1) + ", so there is none " + number);
    }
  }

  /**
   * The shards of a store.
   *
   * @param shards by number
   */
  public ShardedStore(List<? extends Shard> shards) {
    this.placement = new Placement(shards.size());
    this.shards = List.copyOf(shards);
    this.stores = IntStream.range(0, shards.size()).<TaskStore>mapToObj(OneShard::new).toList();
  }

  /** Which shard has what. */
  public Placement placement() {
    return placement;
  }

  /**
   * One shard alone, whatever a request names.
   *
   * @throws NoSuchShardException if there is none of this number
   */
  public TaskStore shard(long number) {
    if (number < 0 || number >= stores.size()) {
      throw new NoSuchShardException(number, stores.size());
    }
    return stores.get((int) number);
  }

  /** A shard as this server has it. */
  public Shard at(int number) {
    return shards.get(number);
  }

  /** For each shard, by number, the role of this server and the address of another leader. */
  public List<Map<String, Object>> overview() {
    return IntStream.range(0, shards.size())
        .mapToObj(number -> {
          Shard shard = shards.get(number);
          Map<String, Object> entry = new LinkedHashMap<>();
          entry.put("shard", number);
          entry.put("role", shard.led() == null ? "standby" : "leader");
          String leader = shard.leader();
          if (leader != null) {
            entry.put("leader", leader);
          }
          return entry;
        })
        .toList();
  }

  /** A warning for each shard that nobody leads, as far as this server knows. */
  public List<String> warnings() {
    return IntStream.range(0, shards.size())
        .filter(number -> shards.get(number).led() == null && shards.get(number).leader() == null)
        .mapToObj(number -> "shard " + number + " has no leader at the moment")
        .toList();
  }

  /** Shows for each shard whether this server leads it. */
  public void measure(MeterRegistry registry) {
    for (int number = 0; number < shards.size(); number++) {
      Gauge.builder(
              "millrace.shard.leader", shards.get(number), shard -> shard.led() == null ? 0 : 1)
          .description("1 if this server leads the shard, 0 if it follows")
          .tag("shard", Integer.toString(number))
          .register(registry);
    }
  }

  /** The store of a shard that this server leads; throws {@link ElsewhereException} otherwise. */
  public EmbeddedTaskStore led(int number) {
    EmbeddedTaskStore led = shards.get(number).led();
    if (led == null) {
      throw elsewhere(number);
    }
    return led;
  }

  /**
   * The store of the shard of a command.
   *
   * @throws ElsewhereException if this server does not lead it
   * @throws ShardsDifferException if the command names several shards
   */
  public EmbeddedTaskStore led(Command command) {
    return led(placement.of(command));
  }

  private ElsewhereException elsewhere(int number) {
    return new ElsewhereException(number, shards.size(), shards.get(number).leader());
  }

  /** Wakes the shards that this server leads. */
  public void wake() {
    for (Shard shard : shards) {
      EmbeddedTaskStore led = shard.led();
      if (led != null) {
        led.wake();
      }
    }
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    return led(command).submit(command);
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    List<Integer> places = refs.stream().map(placement::ofTask).distinct().toList();
    if (places.size() < 2) {
      return stores.get(places.isEmpty() ? Placement.HOME : places.getFirst()).tasks(refs);
    }
    List<Optional<Task>> found =
        new ArrayList<>(refs.stream().map(_ -> Optional.<Task>empty()).toList());
    long time = 0;
    for (int place : places) {
      List<Integer> indexes =
          IntStream.range(0, refs.size())
              .filter(i -> placement.ofTask(refs.get(i)) == place)
              .boxed()
              .toList();
      Read<List<Optional<Task>>> read =
          stores.get(place).tasks(indexes.stream().map(refs::get).toList());
      for (int i = 0; i < indexes.size(); i++) {
        found.set(indexes.get(i), read.value().get(i));
      }
      time = Math.max(time, read.timeMillis());
    }
    return new Read<>(OF_SEVERAL, time, List.copyOf(found));
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return stores.get(placement.ofName(query.group())).group(query);
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    Read<List<GroupSummary>> all =
        merged(TaskStore::groups, Comparator.comparing(GroupSummary::name), 0);
    // Each shard has groups of the systems that it serves.
    Map<String, GroupSummary> byName = new LinkedHashMap<>();
    all.value().forEach(group -> byName.merge(group.name(), group, ShardedStore::sum));
    return new Read<>(all.position(), all.timeMillis(), List.copyOf(byName.values()));
  }

  private static GroupSummary sum(GroupSummary one, GroupSummary other) {
    return new GroupSummary(
        one.name(),
        one.waiting() + other.waiting(),
        one.delayed() + other.delayed(),
        one.owned() + other.owned(),
        one.claimed() + other.claimed());
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    return stores.get(placement.ofDocument(key)).document(key);
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    OptionalInt place = placement.ofCollection(query.collection());
    if (place.isPresent()) {
      return stores.get(place.getAsInt()).documents(query);
    }
    Comparator<Document> byKey = Comparator.comparing(document -> document.key().key());
    return merged(
        store -> store.documents(query),
        query.order() == DocumentQuery.Order.ASCENDING ? byKey : byKey.reversed(),
        query.limit());
  }

  /**
   * A list of all shards.
   *
   * @param limit the most elements; 0 for all
   */
  private <T> Read<List<T>> merged(
      Function<TaskStore, Read<List<T>>> question, Comparator<T> order, int limit) {
    if (stores.size() == 1) {
      return question.apply(stores.getFirst());
    }
    List<Read<List<T>>> reads =
        stores.stream().gather(Gatherers.mapConcurrent(stores.size(), question)).toList();
    Stream<T> all = reads.stream().flatMap(read -> read.value().stream()).sorted(order);
    ToLongFunction<Read<List<T>>> time = Read::timeMillis;
    return new Read<>(
        OF_SEVERAL,
        reads.stream().mapToLong(time).max().orElse(0),
        limit == 0 ? all.toList() : all.limit(limit).toList());
  }

  @Override
  public Subscription subscribe(Interest interest) {
    return led(placement.of(interest)).subscribe(interest);
  }

  /** The shard of everything that a subscription names. */
  public TaskStore of(Interest interest) {
    return stores.get(placement.of(interest));
  }

  @Override
  public void close() {
    // The shards are not its own.
  }

  /** One shard: its own store if this server leads it, or else what it follows. */
  private final class OneShard implements TaskStore {
    private final int number;

    OneShard(int number) {
      this.number = number;
    }

    private TaskStore readable() {
      Shard shard = shards.get(number);
      EmbeddedTaskStore led = shard.led();
      if (led != null) {
        return led;
      }
      StandbyStore following = shard.following();
      if (following != null) {
        try {
          following.refreshed().get(LONGEST_READ.toMillis(), TimeUnit.MILLISECONDS);
          return following.reads(ANY_AGE, null);
        } catch (ExecutionException | TimeoutException _) {
          // Its leader may be able to answer.
        } catch (InterruptedException _) {
          Thread.currentThread().interrupt();
        }
      }
      throw elsewhere(number);
    }

    private <T> T read(Function<TaskStore, T> question) {
      try {
        return question.apply(readable());
      } catch (TooStaleException _) {
        throw elsewhere(number);
      }
    }

    @Override
    public CompletableFuture<Outcome> submit(Command command) {
      return led(number).submit(command);
    }

    @Override
    public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
      return read(store -> store.tasks(refs));
    }

    @Override
    public Read<List<Task>> group(GroupQuery query) {
      return read(store -> store.group(query));
    }

    @Override
    public Read<List<GroupSummary>> groups() {
      return read(TaskStore::groups);
    }

    @Override
    public Read<Optional<Document>> document(DocumentKey key) {
      return read(store -> store.document(key));
    }

    @Override
    public Read<List<Document>> documents(DocumentQuery query) {
      return read(store -> store.documents(query));
    }

    @Override
    public Subscription subscribe(Interest interest) {
      return led(number).subscribe(interest);
    }

    @Override
    public void close() {
      // It is not its own.
    }
  }
}
