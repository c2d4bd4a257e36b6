package io.millrace.server.store;

import io.millrace.http.message.HttpProblem;
import io.millrace.store.TaskRef;
import io.millrace.wire.Requests;
import io.millrace.wire.WireException;
import java.util.List;

/** The tasks that a read names. */
final class Requested {
  private Requested() {}

  /** Those in a path. */
  static List<TaskRef> refs(String path) {
    try {
      return Requests.readRefs(path);
    } catch (WireException e) {
      throw HttpProblem.malformed(String.valueOf(e.getMessage()));
    }
  }

  /** Those in a body. */
  static List<TaskRef> refs(byte[] body) {
    try {
      return Requests.readRefs(body);
    } catch (WireException e) {
      throw HttpProblem.malformed(String.valueOf(e.getMessage()));
    }
  }
}
