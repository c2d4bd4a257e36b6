package io.millrace.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Lists whose elements all have one form. */
final class Lists {
  private Lists() {}

  static <T> List<T> read(JsonInput in, Function<JsonInput, T> element) {
    List<T> list = new ArrayList<>();
    in.array();
    while (in.element()) {
      list.add(element.apply(in));
    }
    return list;
  }
}
