package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.leader.Turn;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.DeathMarks;
import io.millrace.cluster.membership.Members;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Presence;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.Partition;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The members that are marked as dead, as one leader knows them: takes them out of the list of
 * members, and removes the marks of those who are gone. Used by one thread.
 */
final class Marked {
  private static final Logger LOG = LoggerFactory.getLogger(Marked.class);

  private final Station station;
  private final DeathMarks marks;
  private final Members members;
  private final LeaseTerms terms;
  private final Map<String, Long> lastSign = new HashMap<>();

  Marked(Station station) {
    this.station = station;
    this.marks = new DeathMarks(station.documents());
    this.members = new Members(station.documents());
    this.terms = station.terms();
  }

  void begin() {
    lastSign.clear();
  }

  void add(String token) {
    lastSign.putIfAbsent(token, station.now());
  }

  Set<String> tokens() {
    return lastSign.keySet();
  }

  /**
   * Finds out who is marked, and has them out of the list. A listing may be old: it is not enough.
   */
  void look(Turn turn) {
    Set<String> listed = marks.list();
    Set<String> changed =
        Stream.concat(listed.stream(), lastSign.keySet().stream())
            .filter(token -> listed.contains(token) != lastSign.containsKey(token))
            .collect(Collectors.toSet());
    for (String token : changed) {
      if (marks.isMarked(token)) {
        add(token);
      } else {
        lastSign.remove(token);
      }
    }
    takeOut(turn);
    forgetThoseWhoAreGone(turn);
  }

  private void takeOut(Turn turn) {
    Set<String> there =
        turn.members().nodes().stream()
            .map(Peer::token)
            .filter(lastSign::containsKey)
            .collect(Collectors.toSet());
    if (!there.isEmpty()) {
      turn.guard().check();
      LOG.info("Members {} are marked as dead, and taken out of the list", there);
      members.remove(there);
    }
  }

  /**
   * One that lives holds a partition, or else its own lock, until it takes its mark away itself.
   */
  private void forgetThoseWhoAreGone(Turn turn) {
    long patience = 3 * terms.lease().toMillis();
    Set<String> holders =
        turn.partitions().stream()
            .filter(Partition::isOutstanding)
            .map(partition -> partition.lock().holder())
            .collect(Collectors.toSet());
    for (Map.Entry<String, Long> sign : Map.copyOf(lastSign).entrySet()) {
      String token = sign.getKey();
      if (turn.nowMillis() - sign.getValue() < patience) {
        continue;
      }
      String own = Presence.PREFIX + token;
      if (holders.contains(token) || station.documents().get(own).isPresent()) {
        lastSign.put(token, turn.nowMillis());
      } else {
        turn.guard().check();
        if (marks.clear(token)) {
          lastSign.remove(token);
        }
      }
    }
  }
}
