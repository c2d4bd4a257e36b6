package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Who is ready, by type, longest first. Guarded by the lock of the floor. */
final class Seats {
  private final Map<String, LinkedHashSet<Post>> ready = new HashMap<>();

  /** Those of them who look once and are to be answered. */
  private final Set<Post> asking = new HashSet<>();

  /** A place of one worker. */
  private record Place(Post post, WorkerId worker) implements Seat {}

  static Post post(Seat seat) {
    return ((Place) seat).post();
  }

  /**
   * Whether a worker has room may have changed.
   *
   * @return whether it has, and had none before
   */
  boolean review(Post post) {
    if (post.room() > 0) {
      if (post.looksOnce()) {
        asking.add(post);
      }
      return ready.computeIfAbsent(post.type(), _ -> new LinkedHashSet<>()).add(post);
    }
    asking.remove(post);
    LinkedHashSet<Post> same = ready.get(post.type());
    if (same != null && same.remove(post) && same.isEmpty()) {
      ready.remove(post.type());
    }
    return false;
  }

  /** The types that have a ready worker. */
  Set<String> types() {
    return Set.copyOf(ready.keySet());
  }

  /** Whether somebody of this type looks once. */
  boolean isAsked(String type) {
    return asking.stream().anyMatch(post -> post.type().equals(type));
  }

  /** Reserves up to so many, of workers that are wanted and of those who look once. */
  List<Seat> reserve(String type, int most, Predicate<WorkerId> wanted) {
    List<Seat> seats = new ArrayList<>();
    List<Post> chosen = new ArrayList<>();
    for (Post post : ready.getOrDefault(type, new LinkedHashSet<>())) {
      Registration who = post.registration();
      if (who == null || !(post.looksOnce() || wanted.test(who.id()))) {
        continue;
      }
      chosen.add(post);
      while (post.room() > 0 && seats.size() < most) {
        post.reserve();
        seats.add(new Place(post, who.id()));
      }
      if (seats.size() == most) {
        break;
      }
    }
    chosen.forEach(this::review);
    return seats;
  }
}
