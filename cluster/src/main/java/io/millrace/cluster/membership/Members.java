package io.millrace.cluster.membership;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The document {@value #KEY}: {@code {"nodes": [{"token": T, "workers": N}, …]}}. Its changes may
 * be repeated, so it does not matter which attempt succeeded. Safe for use by any number of
 * threads.
 */
public final class Members {
  /** The key of the document. */
  public static final String KEY = "members";

  private final VersionedDocuments documents;

  /** The members in these documents. */
  public Members(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The members at present. */
  public MemberList list() {
    return read(documents.get(KEY));
  }

  /** Adds a member to the list, or sets its number of workers; returns the list then. */
  public MemberList ensure(Peer peer) {
    return change(list -> list.with(peer));
  }

  /** Takes members out of the list; returns the list then. */
  public MemberList remove(Set<String> tokens) {
    return change(list -> list.without(tokens));
  }

  private MemberList change(UnaryOperator<MemberList> change) {
    return read(
        documents.update(
            KEY,
            found -> {
              MemberList before = read(found);
              MemberList after = change.apply(before);
              return after.equals(before) ? Optional.empty() : Optional.of(json(after));
            }));
  }

  private static String json(MemberList list) {
    ObjectNode json = DocumentJson.object();
    ArrayNode nodes = json.putArray("nodes");
    for (Peer peer : list.nodes()) {
      nodes.addObject().put("token", peer.token()).put("workers", peer.workers());
    }
    return json.toString();
  }

  private static MemberList read(Optional<VersionedDocument> document) {
    return document.map(Members::read).orElse(MemberList.EMPTY);
  }

  /** What the document says. */
  public static MemberList read(VersionedDocument document) {
    return DocumentJson.read(document, "is damaged", Members::read);
  }

  private static MemberList read(JsonNode json) {
    List<Peer> nodes = new ArrayList<>();
    for (JsonNode node : json.path("nodes")) {
      nodes.add(new Peer(node.path("token").asString(""), node.path("workers").asInt(0)));
    }
    return new MemberList(nodes);
  }
}
