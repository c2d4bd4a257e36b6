package io.millrace.graph.schedule;

import io.millrace.blobs.Tail;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.NodeType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A type whose attempts end when a test says so, and live on when their scheduler goes. */
final class FakeType implements NodeType {
  private final String name;
  private final Kind kind;
  private final boolean takesPlace;
  final List<Fake> begun = new ArrayList<>();
  final Map<String, Fake> alive = new LinkedHashMap<>();

  /** Called before an attempt begins; may throw. */
  Consumer<AttemptContext> before = _ -> {};

  FakeType(String name, Kind kind, boolean takesPlace) {
    this.name = name;
    this.kind = kind;
    this.takesPlace = takesPlace;
  }

  /** An attempt. */
  static final class Fake implements Attempt {
    final NodeId id;
    final int number;
    final List<Kill> kills = new ArrayList<>();
    final CompletableFuture<Ending> end = new CompletableFuture<>();
    private final Runnable over;

    Fake(AttemptContext work, Runnable over) {
      this.id = work.id();
      this.number = work.attempt();
      this.over = over;
    }

    void end(@Nullable String reason, @Nullable Branch taken) {
      endWith(reason == null ? null : Failure.of(reason), taken);
    }

    void endWith(@Nullable Failure failure, @Nullable Branch taken) {
      over.run();
      end.complete(new Ending(failure, taken, Map.of()));
    }

    @Override
    public CompletableFuture<Ending> onEnd() {
      return end.copy();
    }

    @Override
    public void kill(Kill kill) {
      kills.add(kill);
    }

    @Override
    public Map<String, Tail> recordings() {
      return Map.of();
    }

    @Override
    public String toString() {
      return key(id, number);
    }
  }

  private static String key(NodeId id, int number) {
    return id + "." + number;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Kind kind() {
    return kind;
  }

  @Override
  public boolean takesPlace() {
    return takesPlace;
  }

  @Override
  public Attempt start(AttemptContext work) {
    before.accept(work);
    String key = key(work.id(), work.attempt());
    Fake fake = new Fake(work, () -> alive.remove(key));
    begun.add(fake);
    alive.put(key, fake);
    return fake;
  }

  @Override
  public Optional<Attempt> resume(AttemptContext work) {
    return Optional.ofNullable(alive.get(key(work.id(), work.attempt())));
  }
}
