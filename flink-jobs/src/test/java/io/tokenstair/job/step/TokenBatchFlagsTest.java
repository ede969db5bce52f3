package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokenBatchFlagsTest {
    @Test
    void everyFlagIsABitOfItsOwn() throws Exception {
        int taken = 0;
        int flags = 0;
        for (Field field : TokenBatch.class.getFields()) {
            boolean flag = field.getType() == int.class
                    && Modifier.isStatic(field.getModifiers())
                    && !List.of("CAPACITY", "ABSENT").contains(field.getName());
            if (flag) {
                int bit = field.getInt(null);
                assertThat(Integer.bitCount(bit)).as(field.getName()).isEqualTo(1);
                assertThat(taken & bit).as("%s shares its bit", field.getName()).isZero();
                taken |= bit;
                flags++;
            }
        }
        assertThat(flags).isGreaterThanOrEqualTo(9);
    }
}
