package io.millrace.store.kernel;

import java.util.AbstractList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;

/** A list seen through a function, which is applied at each access. */
final class MappedList<S, T> extends AbstractList<T> {
  private final List<S> source;
  private final Function<? super S, ? extends T> view;

  MappedList(List<S> source, Function<? super S, ? extends T> view) {
    this.source = source;
    this.view = view;
  }

  @Override
  public T get(int index) {
    return view.apply(source.get(index));
  }

  @Override
  public int size() {
    return source.size();
  }

  @Override
  public Iterator<T> iterator() {
    Iterator<S> inner = source.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return inner.hasNext();
      }

      @Override
      public T next() {
        return view.apply(inner.next());
      }
    };
  }
}
