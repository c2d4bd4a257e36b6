package io.millrace.server;

import io.millrace.store.Subscription;
import io.millrace.store.TaskStore;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Reports what reaches a store.
 *
 * @param submitted runs for each command
 * @param cancelled runs for each cancelled command
 * @param unsubscribed runs for each closed subscription
 */
record ObservedStore(Runnable submitted, Runnable cancelled, Runnable unsubscribed) {
  /** A store that hands everything on to a real one. */
  <S extends TaskStore> S of(Class<S> type, S store) {
    return proxy(
        type,
        (proxy, method, arguments) -> {
          if (method.isDefault()) {
            // It submits, and is seen there.
            return InvocationHandler.invokeDefault(proxy, method, arguments);
          }
          return observed(call(store, method, arguments), method);
        });
  }

  private @Nullable Object observed(@Nullable Object answer, Method method) {
    if (method.getName().equals("submit") && answer instanceof CompletableFuture<?> outcome) {
      submitted.run();
      var _ =
          outcome.whenComplete((_, _) -> {
            if (outcome.isCancelled()) {
              cancelled.run();
            }
          });
    }
    return answer instanceof Subscription subscription ? observed(subscription) : answer;
  }

  private Subscription observed(Subscription subscription) {
    return proxy(
        Subscription.class,
        (_, method, arguments) -> {
          Object answer = call(subscription, method, arguments);
          if (method.getName().equals("close")) {
            unsubscribed.run();
          }
          return answer;
        });
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static @Nullable Object call(
      Object target, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
