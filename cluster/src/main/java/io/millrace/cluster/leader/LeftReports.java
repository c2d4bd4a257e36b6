package io.millrace.cluster.leader;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.report.Reports;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Removes the reports of members that are gone: not in the list, and for lease and margin nothing
 * new from them. It looks once in a lease. Used by one thread.
 */
final class LeftReports {
  private final Station station;
  private final Map<String, Left> left = new HashMap<>();
  private long nextMillis;

  private record Left(Version version, long sinceMillis) {}

  LeftReports(Station station) {
    this.station = station;
    this.nextMillis = station.now();
  }

  void step(Guard guard, MemberList members) {
    long now = station.now();
    if (now < nextMillis) {
      return;
    }
    nextMillis = now + station.terms().lease().toMillis();
    List<VersionedDocument> strangers =
        station.documents().list(Reports.PREFIX).stream()
            .filter(report -> members.find(Reports.token(report.key())).isEmpty())
            .toList();
    left.keySet()
        .retainAll(strangers.stream().map(VersionedDocument::key).collect(Collectors.toSet()));
    long patience = station.terms().lease().plus(station.terms().margin()).toMillis();
    for (VersionedDocument report : strangers) {
      Left before = left.get(report.key());
      if (before == null || !before.version().equals(report.version())) {
        left.put(report.key(), new Left(report.version(), now));
      } else if (now - before.sinceMillis() >= patience) {
        guard.check();
        station.documents().delete(report.key(), report.version());
      }
    }
  }
}
