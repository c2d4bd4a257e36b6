package io.millrace.cluster.remote;

import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.remote.dispatch.View;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Who has a worker to spare. Used by one thread at a time. */
final class Roster {
  private final Map<String, Integer> running = new HashMap<>();
  private final Set<String> marked = new HashSet<>();
  private View view = View.nothing();

  /** What the leader sees, which knows of everything that was noted before. */
  void see(View seen) {
    view = seen;
    marked.clear();
  }

  View view() {
    return view;
  }

  void submitted(String token) {
    running.merge(token, 1, Integer::sum);
  }

  void ended(String token) {
    running.computeIfPresent(token, (t, count) -> count > 1 ? count - 1 : null);
  }

  /** A member was marked as dead, which the leader's thread is yet to hear. */
  void marked(String token) {
    marked.add(token);
  }

  /** Those with a worker to spare, the freest first, then in the order of the list. */
  List<Peer> idle() {
    return view.members().nodes().stream()
        .filter(peer -> spare(peer) > 0 && !marked.contains(peer.token()))
        .sorted(Comparator.comparingInt(this::spare).reversed())
        .toList();
  }

  private int spare(Peer peer) {
    return peer.workers()
        - running.getOrDefault(peer.token(), 0)
        - view.busy().getOrDefault(peer.token(), 0);
  }
}
